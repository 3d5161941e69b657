#!/usr/bin/env bash
# Installs a package that script/package made into a system, over the one before, uses it, removes and purges it.
#
#   Tests/Packaging/install.sh ROOT PACKAGE.deb [BEFORE.deb]
#
# ROOT is the folder of a Debian or Ubuntu that may be changed, such as one of
#   debootstrap --variant=minbase bookworm ROOT
# or / in a container. Without BEFORE.deb the one before is the same under an earlier version.
# Needs root and, for what the package depends on, the network of apt. Nothing outside of ROOT is touched.
set -euo pipefail

[[ ($# == 2 || $# == 3) && -d $1 && -f $2 ]] || { printf 'usage: %s ROOT PACKAGE.deb [BEFORE.deb]\n' "$0" >&2; exit 64; }
root=$(cd "$1" && pwd)
root=${root%/}
package=$(realpath "$2")
before=${3:+$(realpath "$3")}
readonly root package

# A Swift program reads its arguments in /proc, which the system has not got by itself; the mount ends with this process.
if [[ -n $root && -z ${MOUNTED:-} ]]; then
    MOUNTED=yes exec unshare --mount --propagation private "$0" "$root" "$package" ${before:+"$before"}
fi
if [[ -n $root ]]; then
    mkdir -p "$root/proc"
    mount -t proc proc "$root/proc"
fi

step() { printf '== %s\n' "$*"; }

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

inside() { chroot "$root/" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }

step "what the package says of itself"
dpkg-deb --info "$package"
[[ $(dpkg-deb --field "$package" Depends) == *libpq5* ]] || fail "it does not depend on libpq5"
contents=$(dpkg-deb --contents "$package")
[[ -z $(awk '$2 != "root/root"' <<< "$contents") ]] || fail "a file is not root's"
for file in usr/share/man/man1/versiongate-rule-add.1.gz usr/bin/versiongate usr/share/versiongate/database usr/lib/systemd/system/versiongate.{service,socket} usr/share/doc/versiongate/copyright; do
    grep -q "\./$file$" <<< "$contents" || fail "it has no $file"
done

step "installing the one before with what it depends on"
version=$(dpkg-deb --field "$package" Version)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
if [[ -z $before ]]; then
    before=$scratch/before.deb
    dpkg-deb --raw-extract "$package" "$scratch/before"
    sed -i "s/^Version: .*/&~before/" "$scratch/before/DEBIAN/control"
    dpkg-deb -Znone --build "$scratch/before" "$before" > /dev/null
fi
cp "$package" "$root/tmp/versiongate.deb"
cp "$before" "$root/tmp/versiongate-before.deb"
install_package() {
    inside apt-get install -y -qq --no-install-recommends "$@" > "$root/tmp/install.log" 2>&1 ||
        { tail -n 20 "$root/tmp/install.log" >&2; fail "apt-get install failed"; }
}
inside apt-get update -qq
install_package /tmp/versiongate-before.deb

step "upgrading it, enabled and configured, from $(inside dpkg-query --show versiongate)"
# As `systemctl enable` does it.
links=(multi-user.target.wants/versiongate.service sockets.target.wants/versiongate.socket)
enable_units() {
    local link
    for link in "${links[@]}"; do
        mkdir -p "$root/etc/systemd/system/${link%/*}"
        ln -sf "/lib/systemd/system/${link##*/}" "$root/etc/systemd/system/$link"
    done
}
enable_units
echo DATABASE_URL=postgresql://db.example.com/versiongate > "$root/etc/versiongate.env"
install_package /tmp/versiongate.deb
inside dpkg-query --show versiongate
for link in "${links[@]}"; do
    [[ -L $root/etc/systemd/system/$link ]] || fail "an upgrade disables ${link##*/}"
done
inside dpkg --verify versiongate || fail "what is installed is not what the package has"
inside dpkg --remove versiongate > /dev/null
[[ ! -e $root/usr/bin/versiongate ]] || fail "a removal leaves the program"
inside dpkg --purge versiongate > /dev/null
for link in "${links[@]}"; do
    [[ ! -L $root/etc/systemd/system/$link ]] || fail "a purge leaves the link of ${link##*/}"
done
[[ -e $root/etc/versiongate.env ]] || fail "a purge removed the configuration that a person wrote"
rm "$root/etc/versiongate.env"

step "installing it afresh"
install_package /tmp/versiongate.deb
[[ $(inside versiongate --version) == "${version/\~/-}" ]] || fail "versiongate --version is not $version"
! inside ldd /usr/bin/versiongate | grep 'not found' || fail "a library is missing"
[[ $(inside getent passwd versiongate) == *:/usr/sbin/nologin ]] || fail "there is no user versiongate without a shell"
[[ -z $(inside find /etc/systemd/system /var/lib/systemd -name 'versiongate*' -type l) ]] || fail "a unit is enabled without configuration"
said=$(inside versiongate rule list 2>&1 < /dev/null) && fail "a command without a database succeeded"
[[ $said == *'no database is named'* ]] || fail "a command without a database says: $said"
inside bash -c 'source /usr/share/bash-completion/completions/versiongate && complete -p versiongate' > /dev/null ||
    fail "the completions cannot be read"

step "the units"
if command -v systemd-analyze > /dev/null; then
    # Dependencies that this small system has not got are systemd's own.
    faults=$(systemd-analyze verify --root="$root/" --man=no --recursive-errors=no versiongate.service versiongate.socket 2>&1) ||
        fail "systemd-analyze: $faults"
    [[ -z $faults ]] || printf '%s\n' "$faults"
fi
unit=$root/usr/lib/systemd/system/versiongate.service
grep -qx 'ExecStart=/usr/bin/versiongate serve' "$unit" || fail "the unit does not start /usr/bin/versiongate"
grep -qx 'User=versiongate' "$unit" || fail "the unit does not run as versiongate"
grep -qx 'ConditionPathExists=/etc/versiongate.env' "$unit" || fail "the unit would start without configuration"

step "a first answer from a fresh installation, with a PostgreSQL"
mkdir -p "$root/etc/postgresql-common/createcluster.d"
echo 'create_main_cluster = false' > "$root/etc/postgresql-common/createcluster.d/versiongate.conf"
inside dpkg --purge versiongate > /dev/null
install_package postgresql
begin=$(date +%s%N)
inside dpkg -i /tmp/versiongate.deb > /dev/null
coproc SERVER { inside VERSIONGATE_PORT=0 VERSIONGATE_MANAGEMENT_PORT=0 VERSIONGATE_HOST=127.0.0.1 versiongate serve --example 2>&1; }
# shellcheck disable=SC2153
server=$SERVER_PID address=
while read -r -t 60 line <&"${SERVER[0]}"; do
    printf '%s\n' "$line"
    [[ ! $line =~ public\ (http://[^ ]+) ]] || { address=${BASH_REMATCH[1]}; break; }
done
[[ -n $address ]] || fail "the server did not start"
answer=$(curl --silent --show-error "$address/v1/check?bundle=com.example.hello&version=1.1&platform=ios")
printf '%s\nanswered %d ms after dpkg -i began\n' "$answer" $((($(date +%s%N) - begin) / 1000000))
kill "$server"
wait "$server" || true
[[ $answer == *hello-update* ]] || fail "the first answer has no message"
rm -rf -- "$root/var/lib/versiongate"

step "installing it again, and removing it"
inside dpkg -i /tmp/versiongate.deb > /dev/null
mkdir -p "$root/var/lib/versiongate/postgres"
touch "$root/var/lib/versiongate"/{last-good-policy{,.passed,.damaged},policy-trial,brake{,.log},store-answers.json}
inside dpkg --purge versiongate > /dev/null
[[ ! -e $root/usr/bin/versiongate ]] || fail "a purge leaves the program"
left=$(ls -A "$root/var/lib/versiongate")
[[ $left == postgres ]] || fail "a purge is to leave a private PostgreSQL alone, and leaves: $left"
rm -rf -- "$root/var/lib/versiongate" "$root"/tmp/versiongate{,-before}.deb "$root/tmp/install.log"
step "all is well"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the versiongate authors
#
# Installs a package that script/package made into a system, uses it, and removes it again.
#
#   Tests/Packaging/install.sh ROOT PACKAGE.deb
#
# ROOT is the folder of a Debian or Ubuntu that may be changed, such as one of
#   debootstrap --variant=minbase bookworm ROOT
# Needs root and, for what the package depends on, the network of apt. Nothing outside of ROOT is touched.
set -euo pipefail

[[ $# == 2 && -d $1 && -f $2 ]] || { printf 'usage: %s ROOT PACKAGE.deb\n' "$0" >&2; exit 64; }
root=$(cd "$1" && pwd)
package=$(realpath "$2")
readonly root package

# A Swift program reads its arguments in /proc, which the system has not got by itself; the mount ends with this process.
if [[ -z ${MOUNTED:-} ]]; then
    MOUNTED=yes exec unshare --mount --propagation private "$0" "$root" "$package"
fi
mkdir -p "$root/proc"
mount -t proc proc "$root/proc"

step() { printf '== %s\n' "$*"; }

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }

step "what the package says of itself"
dpkg-deb --info "$package"
[[ $(dpkg-deb --field "$package" Depends) == *libpq5* ]] || fail "it does not depend on libpq5"
contents=$(dpkg-deb --contents "$package")
[[ -z $(awk '$2 != "root/root"' <<< "$contents") ]] || fail "a file is not root's"
for file in usr/bin/versiongate usr/share/versiongate/database usr/lib/systemd/system/versiongate.{service,socket} usr/share/doc/versiongate/copyright; do
    grep -q "\./$file$" <<< "$contents" || fail "it has no $file"
done

step "installing it with what it depends on"
cp "$package" "$root/tmp/versiongate.deb"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends /tmp/versiongate.deb > "$root/tmp/install.log" 2>&1 ||
    { tail -n 20 "$root/tmp/install.log" >&2; fail "apt-get install failed"; }
version=$(dpkg-deb --field "$package" Version)
[[ $(inside versiongate --version) == "$version" ]] || fail "versiongate --version is not $version"
! inside ldd /usr/bin/versiongate | grep 'not found' || fail "a library is missing"
[[ $(inside getent passwd versiongate) == *:/usr/sbin/nologin ]] || fail "there is no user versiongate without a shell"
[[ -z $(inside find /etc/systemd/system -name 'versiongate*') ]] || fail "a unit is enabled without configuration"
said=$(inside versiongate rule list 2>&1 < /dev/null) && fail "a command without a database succeeded"
[[ $said == *'no database is named'* ]] || fail "a command without a database says: $said"
inside bash -c 'source /usr/share/bash-completion/completions/versiongate && complete -p versiongate' > /dev/null ||
    fail "the completions cannot be read"

step "the units"
if command -v systemd-analyze > /dev/null; then
    # Dependencies that this small system has not got are systemd's own.
    faults=$(systemd-analyze verify --root="$root" --man=no --recursive-errors=no versiongate.service versiongate.socket 2>&1) ||
        fail "systemd-analyze: $faults"
    [[ -z $faults ]] || printf '%s\n' "$faults"
fi
unit=$root/usr/lib/systemd/system/versiongate.service
grep -qx 'ExecStart=/usr/bin/versiongate serve' "$unit" || fail "the unit does not start /usr/bin/versiongate"
grep -qx 'User=versiongate' "$unit" || fail "the unit does not run as versiongate"
grep -qx 'ConditionPathExists=/etc/versiongate.env' "$unit" || fail "the unit would start without configuration"

step "installing it again, and removing it"
inside dpkg -i /tmp/versiongate.deb > /dev/null
mkdir -p "$root/var/lib/versiongate/postgres"
touch "$root/var/lib/versiongate/last-good-policy"
inside dpkg --purge versiongate > /dev/null
[[ ! -e $root/usr/bin/versiongate && ! -e $root/var/lib/versiongate/last-good-policy ]] || fail "a purge leaves something"
[[ -d $root/var/lib/versiongate/postgres ]] || fail "a purge removed a private PostgreSQL"
rm -rf -- "$root/var/lib/versiongate" "$root/tmp/versiongate.deb" "$root/tmp/install.log"
step "all is well"

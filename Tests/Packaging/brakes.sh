#!/usr/bin/env bash
# Tries the recipes of deploy/brakes on a database with the schema: Tests/Packaging/brakes.sh
#
# ADMIN_URL logs in as an admin, DATABASE_URL as a member of versiongate_brake. It adds the apps and rules that it needs.
set -euo pipefail
cd "$(dirname "$0")/../../deploy/brakes"

work=$(mktemp -d)
receiver=
trap '[ -z "$receiver" ] || kill "$receiver"; rm -rf "$work"' EXIT

failures=0
# expect WHAT WANTED GOT
expect() {
    if [[ $3 == *"$2"* ]]; then return; fi
    printf 'not ok: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3" >&2
    failures=$((failures + 1))
}

admin() { psql --no-psqlrc -qtA -v ON_ERROR_STOP=1 "$ADMIN_URL" -c "$1"; }
state() { admin "SELECT concat_ws(' ', enabled, lockout, held_at IS NOT NULL) FROM rules WHERE key = '$1'"; }
latest() { admin "SELECT concat_ws(' ', tool, why) FROM changes ORDER BY id DESC LIMIT 1"; }
# Runs a command, and prints what it says and its exit status.
run() {
    local status=0
    "$@" 2>&1 || status=$?
    echo "exit $status"
}

admin "INSERT INTO apps (bundle) VALUES ('a'), ('b');
    INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2', now()), ('b', 'ios', '2', now());
    INSERT INTO rules (key, bundle, platforms, versions, title, text, link, lockout, enabled, rollout)
    SELECT key, bundle, '{ios}', '<2', 't', 'x', 'https://example.com', true, true, rollout
      FROM (VALUES ('ramp', 'a', 0), ('ramp2', 'a', 0), ('ramp3', 'a', 0), ('all', 'b', 100), ('last', 'b', 100))
               AS r(key, bundle, rollout);
    UPDATE rules SET final = true WHERE key = 'all';
    INSERT INTO rollout_steps SELECT key, at, share FROM (VALUES ('ramp'), ('ramp2'), ('ramp3')) AS r(key),
        (VALUES (now() - interval '1 hour', 10), (now() + interval '1 day', 50)) AS s(at, share);" 2> /dev/null

# brake itself
expect 'no arguments' 'exit 64' "$(run ./brake)"
expect 'what it does not do' 'exit 64' "$(run ./brake enable ramp)"
expect 'a password in the address' 'exit 64' "$(DATABASE_URL=postgresql://anna:geheim@db1/x run ./brake hold ramp)"
expect 'its password is not shown' 'PGPASSFILE' "$(DATABASE_URL='host=db1 password=geheim' run ./brake hold ramp)"
expect 'no database' 'exit 75' "$(DATABASE_URL=postgresql://127.0.0.1:1/x run ./brake hold ramp)"
expect 'a rule that there is not' 'there is no rule "y"' "$(run ./brake hold y)"
expect 'its status' 'exit 1' "$(run ./brake hold y)"
expect 'a final rule' 'is final, so what comes after it would be sent in its place' "$(run ./brake disable all)"
quoted="x'; DROP TABLE rules; -- \$(id)"
expect 'words of SQL and of the shell' "there is no rule \"$quoted\"" "$(run ./brake hold "$quoted")"

# The phone
phone() { SSH_ORIGINAL_COMMAND=$1 run ./phone; }
expect 'a phone without a command' 'exit 64' "$(phone '')"
expect 'a shell from a phone' 'exit 64' "$(phone 'bash -i')"
expect 'substitution from a phone' "there is no rule \"\$(id)\"" "$(phone "hold \$(id)")"
expect 'a second command from a phone' 'there is no rule "ramp;"' "$(phone 'hold ramp; id')"
expect 'a pattern from a phone' 'there is no rule "*"' "$(phone 'hold *')"
expect 'a hold from a phone' 'rule "ramp" is held now, at 10 %' "$(phone 'hold ramp crashes  on iOS')"
expect 'its reason' 'brake crashes on iOS' "$(latest)"
expect 'the same again' 'is already held, since' "$(phone 'hold ramp')"
expect 'the same again, its status' 'exit 0' "$(phone 'hold ramp')"
expect 'a lockout from a phone' 'rule "last" is a message now' "$(phone $'lockout\tlast')"
expect 'its reason' 'brake by SSH' "$(latest)"

# The crash rate
expect 'no limit' 'exit 64' "$(run ./crash-rate much ramp2 echo 3)"
expect 'below the limit' 'exit 0' "$(run ./crash-rate 1.5 ramp2 echo 1.5)"
expect 'a failing command' 'printed no number, so ramp2 is not held' "$(run ./crash-rate 1.5 ramp2 false)"
expect 'words' 'exit 1' "$(run ./crash-rate 1.5 ramp2 echo many)"
expect 'not held yet' 't t f' "$(state ramp2)"
expect 'above the limit' 'rule "ramp2" is held now, at 10 %' "$(run ./crash-rate 1.5 ramp2 echo 1.51)"
expect 'its reason' 'brake 1.51 % of sessions crash, more than 1.5 %' "$(latest)"
expect 'held' 't t t' "$(state ramp2)"

# Alertmanager
token=0123456789abcdef0123456789abcdef
echo "$token" > "$work/token"
chmod 0644 "$work/token"
expect 'a token that others may read' 'chmod 0600' "$(run ./alertmanager 0 "$work/token")"
chmod 0600 "$work/token"
echo short > "$work/short"
chmod 0600 "$work/short"
expect 'a short token' 'has fewer than 16 characters' "$(run ./alertmanager 0 "$work/short")"
expect 'no port' 'exit 64' "$(run ./alertmanager)"
mkfifo "$work/ready"
./alertmanager 0 "$work/token" > "$work/ready" 2> "$work/log" &
receiver=$!
read -r _ _ url < "$work/ready"

# post BODY [OPTION...]: the status and what is said
post() {
    local body=$1
    shift
    curl -sS --max-time 30 -w 'status %{http_code}' -H "Authorization: Bearer $token" "$@" --data-binary "$body" "$url" \
        2>&1 || true
}
alert() {
    printf '{"version":"4","status":"firing","alerts":[{"status":"%s","labels":{"alertname":"Crashes",%s}}]}' "$1" "$2"
}
expect 'a listener for this machine alone' '127.0.0.1' "$url"
expect 'no token' 'status 401' "$(curl -sS -w 'status %{http_code}' -d '{}' "$url")"
expect 'a wrong token' 'status 401' "$(curl -sS -w 'status %{http_code}' -H 'Authorization: Bearer no' -d '{}' "$url")"
expect 'a GET' '501' "$(curl -sS -o /dev/null -w '%{http_code}' "$url")"
expect 'no JSON' 'status 400' "$(post 'x')"
expect 'no alerts' 'status 400' "$(post '{}')"
expect 'deep nesting' 'status 400' "$(post "$(printf '[%.0s' {1..100000})")"
expect 'a label is missing' 'status 400' "$(post "$(alert firing '"brake":"hold"')")"
expect 'another label' 'status 200' "$(post "$(alert firing '"rule":"ramp3"')")"
expect 'a resolved alert' 'status 200' "$(post "$(alert resolved '"brake":"hold","rule":"ramp3"')")"
expect 'not held by these' 't t f' "$(state ramp3)"
head -c 1048577 /dev/zero > "$work/large"
expect 'a large body' 'status 413' "$(post "@$work/large")"
expect 'chunks' 'status 411' "$(post '{}' -H 'Transfer-Encoding: chunked')"
many=$(for n in {1..21}; do printf '{"status":"firing","labels":{"brake":"hold","rule":"r%s"}},' "$n"; done)
expect 'many calls' 'status 400' "$(post "{\"alerts\":[${many%,}]}")"
expect 'what no brake does' 'status 422' "$(post "$(alert firing '"brake":"enable","rule":"ramp3"')")"
expect 'an option as a name' 'there is no rule "--help"' "$(post "$(alert firing '"brake":"hold","rule":"--help"')")"
expect 'a refusal' 'is final' "$(post "$(alert firing '"brake":"disable","rule":"all"')")"
expect 'a hold' 'rule "ramp3" is held now, at 10 %' "$(post "$(alert firing '"brake":"hold","rule":"ramp3"')")"
expect 'its reason' 'brake alert Crashes' "$(latest)"
expect 'the same again' 'status 200' "$(post "$(alert firing '"brake":"hold","rule":"ramp3"')")"
expect 'a pause' 'app "a" is paused now' "$(post "$(alert firing '"brake":"pause","bundle":"a"')")"
# Whoever sends nothing, or a byte now and then, keeps nobody waiting, and is sent away.
port=$(grep -oE '[0-9]+/' <<< "$url" | tail -n 1 | tr -d /)
exec 7<> "/dev/tcp/127.0.0.1/$port" 8<> "/dev/tcp/127.0.0.1/$port" 9<> "/dev/tcp/127.0.0.1/$port"
printf 'POST / HTTP/1.0\r\nX: ' >&9
expect 'behind slow clients' 'status 200' "$(post '{"alerts":[]}' --max-time 3)"
end='no end'
for _ in {1..60}; do
    printf x >&9 2> /dev/null || true
    status=0
    read -r -t 1 <&9 || status=$?
    if [[ $status == 1 ]]; then end='the end' && break; fi
done
expect 'a byte a second' 'the end' "$end"
exec 7>&- 8>&- 9>&-
if grep -q "$token" "$work/log"; then expect 'the log' 'no token' 'the token'; fi

if [ "$failures" != 0 ]; then
    echo "$failures of the recipes' promises do not hold" >&2
    exit 1
fi
echo "The recipes hold"

# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# What the scenarios are made of: processes, PostgreSQL, servers, load, edits, and what is noted of them.
# script/faults reads this file; it sets `faults` (this folder), `folder` (for what a run writes) and `binary`, and for
# each scenario `place` (its part of `folder`) and `seconds` (how long its fault lasts).

# Process ids by name, ports and folders by name of a PostgreSQL, ports and management addresses by name of a server.
declare -A pid=() port=() state=() server_port=() management=() log=()
# The names of the loads; what servers are run with, and where they listen.
loads=() server_prefix=() server_host=127.0.0.1
launches=0 edits=0 fault_ended=0

# fail REASON...: the scenario has failed.
fail() {
    printf '%s' "$*" > "$place/reason"
    exit 1
}

# skip REASON...: the scenario cannot run on this machine.
skip() {
    printf '%s' "$*" > "$place/reason"
    exit 77
}

# note TEXT...: what the table tells beside the figures.
note() { printf '%s' "$*" > "$place/note"; }

need_root() { [[ $(id -u) == 0 ]] || skip "needs root for $1"; }
need_command() { command -v "$1" > /dev/null || skip "needs $1"; }

now() { echo $((${EPOCHREALTIME/./} / 1000)); }

# wait_until SECONDS WHAT COMMAND...: until the command succeeds; fails when it takes longer.
wait_until() {
    local deadline=$(($(now) + $1 * 1000)) what=$2
    shift 2
    until "$@"; do
        [[ $(now) -lt $deadline ]] || fail "$what did not come"
        sleep 0.05
    done
}

# pause SECONDS: a sleep that a signal ends.
pause() {
    sleep "$1" &
    wait $!
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# --- processes ---

# launch NAME COMMAND...: in the background; its output goes to log[NAME].
launch() {
    local name=$1
    shift
    launches=$((launches + 1))
    log[$name]=$place/$name.$launches.log
    "$@" > "${log[$name]}" 2>&1 < /dev/null &
    pid[$name]=$!
    disown
}

is_gone() { ! kill -0 "${pid[$1]}" 2> /dev/null; }

# signal SIGNAL NAME: to the process and its children.
signal() {
    local children
    children=$(pgrep -P "${pid[$2]}" || true)
    # shellcheck disable=SC2086 # one word for each child
    kill "-$1" "${pid[$2]}" $children 2> /dev/null || true
}

kill_now() {
    signal KILL "$1"
    wait_until 5 "the end of $1" is_gone "$1"
}

# end NAME: as a service manager does.
end() {
    kill -TERM "${pid[$1]}"
    wait_until 20 "the end of $1" is_gone "$1"
}

# tear_down: whatever the scenario left; a load first, so that no check fails by that.
tear_down() {
    local name
    for name in "${loads[@]}"; do
        is_gone "$name" || end "$name"
    done
    for name in "${!pid[@]}"; do
        signal CONT "$name"
        signal KILL "$name"
    done
    if [[ -n ${namespace:-} ]]; then
        ip link delete "$link" || true
        ip netns delete "$namespace" || true
    fi
    for name in "$place"/*/; do
        ! mountpoint -q "$name" || umount --lazy "$name"
    done
}

# --- PostgreSQL ---

# find_postgres: where its programs are, and what to run them with, for it refuses to run as root.
find_postgres() {
    local user=postgres
    postgres_programs=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1 || command -v initdb)
    postgres_programs=$(dirname "$postgres_programs")
    as_database_user=()
    [[ $(id -u) == 0 ]] || return 0
    id postgres > /dev/null 2>&1 || user=nobody
    database_user=$(id -u "$user"):$(id -g "$user")
    as_database_user=(setpriv --reuid "${database_user%:*}" --regid "${database_user#*:}" --clear-groups --)
}

# postgres_folder NAME: an empty one that PostgreSQL may write.
postgres_folder() {
    mkdir -p "$place/$1"
    [[ $(id -u) != 0 ]] || chown "$database_user" "$place/$1"
}

postgres_answers() { psql_of "$1" --command 'SELECT' > /dev/null 2>&1; }

# run_postgres NAME [OPTION...]: on its files, at the port that it had.
run_postgres() {
    local name=$1
    shift
    port[$name]=${port[$name]:-$(free_port)}
    launch "$name" "${as_database_user[@]}" "$postgres_programs/postgres" -D "$place/$name/data" -k "$place/$name" \
        -p "${port[$name]}" "$@"
    wait_until 30 "$name" postgres_answers "$name"
}

# new_postgres NAME [OPTION...]: one with the schema, an app and a rule.
new_postgres() {
    postgres_folder "$1"
    cp -a "$folder/template/postgres/data" "$place/$1/data"
    run_postgres "$@"
}

# psql_of NAME ARGUMENT...: as superuser, for whom a few connections are kept free.
psql_of() {
    local name=$1
    shift
    PGCONNECT_TIMEOUT=5 psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 \
        --host "$place/$name" --port "${port[$name]}" --username postgres --dbname versiongate "$@"
}

# url_of NAME: how the server connects, over TCP.
url_of() { echo "postgresql://versiongate_server@127.0.0.1:${port[$1]}/versiongate"; }

# make_template: the files of a PostgreSQL with the schema, an app and a rule, which every scenario begins with.
make_template() {
    place=$folder/template
    local data=$place/postgres/data
    mkdir -p "$place"
    postgres_folder postgres
    "${as_database_user[@]}" "$postgres_programs/initdb" --pgdata "$data" --username postgres --auth trust --no-sync \
        --no-locale --encoding UTF8 --wal-segsize 1 > "$place/initdb.log"
    cat >> "$data/postgresql.conf" <<- 'END'
		listen_addresses = '127.0.0.1'
		max_connections = 20
		superuser_reserved_connections = 3
		shared_buffers = 16MB
		min_wal_size = 2MB
		max_wal_size = 16MB
		fsync = off
	END
    printf '%s\n' 'local all all trust' 'host all versiongate_server all trust' > "$data/pg_hba.conf"
    port[postgres]=$(free_port)
    launch postgres "${as_database_user[@]}" "$postgres_programs/postgres" -D "$data" -k "$place/postgres" \
        -p "${port[postgres]}"
    wait_until 30 PostgreSQL "$postgres_programs/pg_isready" --quiet --host "$place/postgres" \
        --port "${port[postgres]}"
    "$postgres_programs/createdb" --host "$place/postgres" --port "${port[postgres]}" --username postgres versiongate
    DATABASE_URL="host=$place/postgres port=${port[postgres]} user=postgres dbname=versiongate" "$binary" migrate \
        > "$place/migrate.log" 2>&1
    psql_of postgres > /dev/null <<- 'END'
		INSERT INTO apps (bundle, name) VALUES ('com.example.doto', 'Doto');
		INSERT INTO rules (key, bundle, enabled, title, text)
		VALUES ('fault', 'com.example.doto', true, 'Edit 0', 'The title tells which edit is live.');
	END
    kill -INT "${pid[postgres]}"
    wait_until 20 "the end of PostgreSQL" is_gone postgres
    unset 'pid[postgres]' 'port[postgres]'
}

# --- servers ---

is_ready() { grep -q '^versiongate is ready: ' "${log[$1]}"; }

# run_server NAME URL [OPTION...]: at the port and on the state folder that it had.
run_server() {
    local name=$1 url=$2 line
    shift 2
    state[$name]=${state[$name]:-$place/state-$name}
    launch "$name" "${server_prefix[@]}" env DATABASE_URL="$url" "$binary" serve --state-dir "${state[$name]}" \
        --host "$server_host" --port "${server_port[$name]:-0}" --management-host "$server_host" --management-port 0 "$@"
    wait_until 20 "the ready line of $name" is_ready "$name"
    line=$(grep '^versiongate is ready: ' "${log[$name]}")
    management[$name]=${line##* management }
    line=${line##* public http://"$server_host":}
    server_port[$name]=${line%% *}
}

# ready_document NAME: what /ready answers.
ready_document() { curl --silent --max-time 5 "${management[$1]}/ready"; }

# ready_says NAME TEXT...: whether each text is in it.
ready_says() {
    local document text
    document=$(ready_document "$1") || return 1
    shift
    for text in "$@"; do [[ $document == *"$text"* ]] || return 1; done
}

# --- load and edits ---

# run_load SERVER: checks until the end of the scenario.
run_load() {
    launch "load-$1" "$faults/load.py" "http://$server_host:${server_port[$1]}"
    loads+=("load-$1")
    wait_until 10 "the first answer of $1" grep -q '^answer ' "${log[load-$1]}"
}

# end_loads: and waits for what they tell.
end_loads() {
    local name
    for name in "${loads[@]}"; do end "$name"; done
}

# edit POSTGRESQL: gives the rule a new title.
edit() {
    edits=$((edits + 1))
    psql_of "$1" --command "SET statement_timeout = '5s'" \
        --command "UPDATE rules SET title = 'Edit $edits' WHERE key = 'fault'" 2>> "$place/edits.log"
}

# answered_at LOAD TITLE: when the first check that was answered with it was sent; fails while none was.
answered_at() {
    awk -v title="$2" '$1 == "answer" && substr($0, length($1 $2) + 3) == title { print $2; found = 1; exit }
        END { exit !found }' "${log[$1]}"
}

# everybody_sees TITLE: whether all loads have been answered with it.
everybody_sees() {
    local name
    for name in "${loads[@]}"; do answered_at "$name" "$1" > /dev/null || return 1; done
}

fault_begins() { echo "$(now) the fault begins" >> "$place/times"; }

fault_ends() {
    fault_ended=$(now)
    echo "$fault_ended the fault ends" >> "$place/times"
}

# no_server_from_now, a_server_from_now: checks cannot be answered in between, and are not counted as failed.
no_server_from_now() { printf '%s ' "$(now)" >> "$place/down"; }
a_server_from_now() { now >> "$place/down"; }

# recovers POSTGRESQL SECONDS: a fresh edit is answered that soon after the end of the fault; notes how soon.
recovers() {
    until edit "$1"; do
        [[ $(now) -lt $((fault_ended + $2 * 1000)) ]] || fail "no edit could be made within $2 s"
        sleep 0.1
    done
    local latest=0 time name
    until everybody_sees "Edit $edits"; do
        [[ $(now) -lt $((fault_ended + $2 * 1000 + 1000)) ]] || fail "a fresh edit is not answered within $2 s"
        sleep 0.05
    done
    for name in "${loads[@]}"; do
        time=$(answered_at "$name" "Edit $edits")
        [[ $time -le $latest ]] || latest=$time
    done
    time=$((latest - fault_ended))
    echo "$time" > "$place/recovered"
    echo "$latest recovered" >> "$place/times"
    [[ $time -le $(($2 * 1000)) ]] || fail "a fresh edit was answered after $time ms, not within $2 s"
}

# keep_longest: of the times noted since the scenario began, the longest is told.
keep_longest() {
    cat "$place/recovered" >> "$place/all-recovered"
    sort -n "$place/all-recovered" | tail -n 1 > "$place/recovered"
}

# usual: what most scenarios begin with: a PostgreSQL, a server and its load.
usual() {
    new_postgres postgres
    run_server server "$(url_of postgres)"
    run_load server
}

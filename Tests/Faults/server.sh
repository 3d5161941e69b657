# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# What can happen to the server, to its state folder and to its memory.

scenario state-missing 1 "the state folder is removed, and the server killed and started"
state_missing() {
    usual
    fault_begins
    rm -r "${state[server]}"
    edit postgres
    wait_until 10 "the edit" everybody_sees "Edit $edits"
    wait_until 10 "the edit on disk" grep -q "Edit $edits" "${state[server]}/last-good-policy"
    rm -r "${state[server]}"
    no_server_from_now
    kill_now server
    run_server server "$(url_of postgres)"
    a_server_from_now
    fault_ends
    recovers postgres 5
    wait_until 10 "the edit on disk" grep -q "Edit $edits" "${state[server]}/last-good-policy"
}

scenario schema-newer 2 "the server is started again on a schema of a later version that it can read"
schema_newer() {
    usual
    fault_begins
    psql_of postgres --command "INSERT INTO versiongate_internal.schema_migrations (name, checksum) VALUES ('9999_future', 'x')"
    no_server_from_now
    kill_now server
    run_server server "$(url_of postgres)"
    a_server_from_now
    fault_ends
    recovers postgres 5
    ready_says server '"source":"database"' || fail "/ready is $(ready_document server)"
}

scenario schema-unreadable 2 "the same with a schema that it cannot read, until that is taken back"
schema_unreadable() {
    usual
    wait_until 10 "the policy on disk" test -s "${state[server]}/last-good-policy"
    fault_begins
    psql_of postgres --command "INSERT INTO versiongate_internal.schema_migrations (name, checksum) VALUES ('9999_future', 'x')" \
        --command "UPDATE versiongate_internal.schema_reader SET oldest = '9999_future'"
    edit postgres
    wait_until 10 "/ready that tells it" ready_says server '9999_future'
    no_server_from_now
    kill_now server
    run_server server "$(url_of postgres)"
    a_server_from_now
    ready_says server '"source":"file"' '"ready":true' '9999_future' || fail "/ready is $(ready_document server)"
    pause "$seconds"
    ! is_gone server || fail "the server ended"
    no_answer_is_empty
    psql_of postgres --command "UPDATE versiongate_internal.schema_reader SET oldest = '0004_policy'"
    fault_ends
    recovers postgres 5
    note "answered from disk meanwhile"
}

scenario memory-limited 0 "servers that get so little memory that some cannot start or work; all end in time"
memory_limited() {
    need_command prlimit
    usual
    local peak percent name started=0
    peak=$(awk '/^VmPeak/ { print $2 }' "/proc/${pid[server]}/status")
    fault_begins
    for percent in 60 75 85 90 95 97 99 102; do
        name=limited-$percent
        launch "$name" env SWIFT_BACKTRACE=enable=no DATABASE_URL="$(url_of postgres)" \
            prlimit "--as=$((peak * 1024 * percent / 100))" "$binary" serve --state-dir "$place/state-$name" \
            --host 127.0.0.1 --port 0 --management-port 0
        wait_until 10 "the start or end of $name" is_ready_or_gone_or_stuck "$name" "$(($(now) + 8000))"
        ! is_ready "$name" || started=$((started + 1))
        is_gone "$name" || ends_in_time "$name"
    done
    fault_ends
    recovers postgres 5
    note "$started of 8 started"
    end_loads
    loads=()
    ends_in_time server
}

# is_ready_or_gone_or_stuck NAME UNTIL: a server that gets no memory may be none of the first two for ever.
is_ready_or_gone_or_stuck() { is_ready "$1" || is_gone "$1" || [[ $(now) -ge $2 ]]; }

# ends_in_time NAME: SIGTERM ends it: 8 seconds, 4 until the last resort, and what the machine takes.
ends_in_time() {
    kill -TERM "${pid[$1]}"
    wait_until 14 "the end of $1" is_gone "$1"
}

# no_answer_is_empty: all answers had the message.
no_answer_is_empty() {
    local name
    for name in "${loads[@]}"; do
        ! grep -q '^answer [0-9]* -$' "${log[$name]}" || fail "checks were answered without the message"
    done
}

# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# What can happen to the server and to its state folder.

scenario server-killed-database-down 2 "SIGKILL to the server, started again while PostgreSQL is down"
server_killed_database_down() {
    usual
    edit postgres
    wait_until 10 "the edit" everybody_sees "Edit $edits"
    wait_until 10 "the edit on disk" grep -q "Edit $edits" "${state[server]}/last-good-policy"
    fault_begins
    kill_now postgres
    no_server_from_now
    kill_now server
    run_server server "$(url_of postgres)"
    a_server_from_now
    ready_says server '"source":"file"' '"ready":true' '"database":"down"' || fail "/ready is $(ready_document server)"
    pause "$seconds"
    never_went_back
    no_answer_is_empty
    fault_ends
    run_postgres postgres
    recovers postgres 10
    ready_says server '"source":"database"' || fail "/ready is $(ready_document server)"
    note "answered from disk meanwhile"
}

scenario server-terminated-behind-nginx 1 "SIGTERM to each of two servers in turn, behind nginx; needs nginx"
server_terminated_behind_nginx() {
    two_behind_nginx
    fault_begins
    local name
    for name in first second first second; do
        end "$name"
        pause "$seconds"
        run_server "$name" "$(url_of postgres)"
    done
    fault_ends
    recovers postgres 5
}

scenario state-read-only 2 "the state folder becomes read-only; needs root for a volume of its own"
state_read_only() {
    state_on_a_volume 8m
    fault_begins
    mount -o remount,ro "${state[server]}"
    edit postgres
    wait_until 10 "/ready that tells it" ready_says server '"fileError"' 'ead-only'
    pause "$seconds"
    no_server_from_now
    kill_now server
    run_server server "$(url_of postgres)"
    a_server_from_now
    mount -o remount,rw "${state[server]}"
    fault_ends
    recovers postgres 5
    wait_until 10 "the edit on disk" grep -q "Edit $edits" "${state[server]}/last-good-policy"
}

scenario state-full 2 "no space in the state folder; needs root for a volume of its own"
state_full() {
    state_on_a_volume 1m
    fault_begins
    dd if=/dev/zero of="${state[server]}/filler" bs=4k status=none 2> /dev/null || true
    edit postgres
    wait_until 10 "/ready that tells it" ready_says server '"fileError"' 'o space'
    pause "$seconds"
    rm "${state[server]}/filler"
    fault_ends
    recovers postgres 5
    wait_until 10 "the edit on disk" grep -q "Edit $edits" "${state[server]}/last-good-policy"
    ready_says server '"fileError"' && fail "/ready still tells of the disk"
    return 0
}

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

scenario state-damaged 2 "the policy on disk is damaged, and the server started while PostgreSQL is down"
state_damaged() {
    usual
    local file=${state[server]}/last-good-policy
    wait_until 10 "the policy on disk" test -s "$file"
    fault_begins
    kill_now postgres
    no_server_from_now
    kill_now server
    sed -i 's/Edit 0/Edit X/' "$file"
    run_server server "$(url_of postgres)"
    a_server_from_now
    ready_says server '"ready":false' 'checksum' || fail "/ready is $(ready_document server)"
    [[ -s $file.damaged && ! -e $file ]] || fail "the damaged file is not set aside"
    pause "$seconds"
    fault_ends
    run_postgres postgres
    recovers postgres 10
    wait_until 10 "the edit on disk" grep -q "Edit $edits" "$file"
    note "without messages meanwhile"
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

# state_on_a_volume SIZE: as `usual`, with the state folder on a volume of that size.
state_on_a_volume() {
    need_root "a volume of its own"
    state[server]=$place/state
    mkdir "${state[server]}"
    mount -t tmpfs -o "size=$1" tmpfs "${state[server]}"
    usual
    wait_until 10 "the policy on disk" test -s "${state[server]}/last-good-policy"
}

# no_answer_is_empty: all answers had the message.
no_answer_is_empty() {
    local name
    for name in "${loads[@]}"; do
        ! grep -q '^answer [0-9]* -$' "${log[$name]}" || fail "checks were answered without the message"
    done
}

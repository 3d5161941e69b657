# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# What can happen to PostgreSQL. The server is up all the while, so no check may fail.

scenario postgresql-stopped 20 "SIGSTOP to all of PostgreSQL, then SIGCONT"
postgresql_stopped() {
    usual
    fault_begins
    signal STOP postgres
    pause "$seconds"
    signal CONT postgres
    fault_ends
    recovers postgres 10
}

scenario disk-full 3 "no space on PostgreSQL's volume; needs root for a volume of its own"
disk_full() {
    need_root "a volume of its own"
    mkdir "$place/postgres"
    mount -t tmpfs -o size=96m tmpfs "$place/postgres"
    usual
    fault_begins
    dd if=/dev/zero of="$place/postgres/filler" bs=64k status=none 2> /dev/null || true
    local number
    for ((number = 0; number < 200; number++)); do
        psql_of postgres --command "UPDATE rules SET text = repeat(md5('$number'), 30) WHERE key = 'fault'" \
            2>> "$place/full.log" || break
    done
    [[ $number -lt 200 ]] || fail "edits went on without space"
    pause "$seconds"
    rm "$place/postgres/filler"
    fault_ends
    ! is_gone postgres || run_postgres postgres
    recovers postgres 20
    note "$(grep -ohE 'No space left on device|the database system is in recovery mode|terminated' "$place/full.log" |
        head -n 1)"
}

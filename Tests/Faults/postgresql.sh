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

scenario connections-used-up 3 "others hold all of max_connections, and the server has lost its own"
connections_used_up() {
    usual
    fault_begins
    local number
    for ((number = 1; number <= 20; number++)); do
        launch "holder$number" "$faults/again.sh" psql --no-psqlrc --host "$place/postgres" \
            --port "${port[postgres]}" --username versiongate_admin --dbname versiongate --command 'SELECT pg_sleep(600)'
    done
    wait_until 20 "/ready that tells the refusal" is_crowded_out
    pause "$seconds"
    for ((number = 1; number <= 20; number++)); do kill_now "holder$number"; done
    terminate versiongate_admin
    fault_ends
    recovers postgres 5
}

scenario wrong-password 3 "the server's password is changed in the database, and back"
wrong_password() {
    usual
    fault_begins
    psql_of postgres --command "ALTER ROLE versiongate_server PASSWORD 'second'"
    terminate versiongate_server
    wait_until 10 "/ready that tells the refusal" ready_says server 'password authentication failed'
    pause "$seconds"
    psql_of postgres --command "ALTER ROLE versiongate_server PASSWORD 'first'"
    fault_ends
    recovers postgres 5
}

scenario failover-with-loss 3 "the same, and the standby lacks the last edits: it stands at an older revision"
failover_with_loss() {
    new_postgres primary
    new_standby standby primary
    run_server server "$(url_of_both primary standby)?target_session_attrs=read-write"
    run_load server
    psql_of standby --command 'SELECT pg_wal_replay_pause()' --output /dev/null
    kill_now standby
    local number
    for ((number = 1; number <= 5; number++)); do edit primary; done
    wait_until 10 "the edits" everybody_sees "Edit $edits"
    fault_begins
    kill_now primary
    pause "$seconds"
    run_postgres standby
    promote standby
    fault_ends
    recovers standby 5
}

scenario standby-lags 3 "a standby that is asked first lags, goes and comes back with older rules"
standby_lags() {
    new_postgres primary
    new_standby standby primary
    run_server server "$(url_of_both standby primary)"
    run_load server
    fault_begins
    psql_of standby --command 'SELECT pg_wal_replay_pause()' --output /dev/null
    edit primary
    kill_now standby
    wait_until 10 "the edit, from the primary" everybody_sees "Edit $edits"
    local end=$((SECONDS + seconds))
    # Its delay starts with each commit, so it comes back without the edit.
    while [[ $SECONDS -lt $end ]]; do
        run_postgres standby -c recovery_min_apply_delay=1h
        terminate versiongate_server primary
        wait_until 10 "the server on the standby" connected_to standby
        ! replicated standby || fail "the standby does not lag"
        sleep 1
        kill_now standby
    done
    everybody_sees "Edit $edits" || fail "the edit is lost"
    run_postgres standby
    fault_ends
    recovers primary 10
    never_went_back
}

scenario dump-restored 1 "an older dump is restored, and as many new edits made: same revision, other token"
dump_restored() {
    usual
    "$postgres_programs/pg_dump" --host "$place/postgres" --port "${port[postgres]}" --username postgres \
        --clean --if-exists --file "$place/dump.sql" versiongate
    local number before
    for ((number = 1; number <= 3; number++)); do edit postgres; done
    wait_until 10 "the edits" everybody_sees "Edit $edits"
    before=$(revision postgres)
    fault_begins
    psql_of postgres --single-transaction --file "$place/dump.sql" --output /dev/null
    for ((number = 1; number <= 2; number++)); do edit postgres; done
    fault_ends
    recovers postgres 5
    [[ $(revision postgres) == "$before" ]] || fail "revision $(revision postgres) instead of $before"
    note "revision $before before and after"
}

scenario pooler-killed 3 "SIGKILL to PgBouncer in transaction mode, which comes back; needs pgbouncer"
pooler_killed() {
    need_command pgbouncer
    new_postgres postgres
    port[pooler]=$(free_port)
    printf '"versiongate_server" "first"\n' > "$place/users"
    cat > "$place/pgbouncer.ini" <<- END
		[databases]
		versiongate = host=127.0.0.1 port=${port[postgres]}
		[pgbouncer]
		listen_addr = 127.0.0.1
		listen_port = ${port[pooler]}
		unix_socket_dir =
		auth_type = scram-sha-256
		auth_file = $place/users
		pool_mode = transaction
	END
    run_pooler
    run_server server "$(url_of postgres "${port[pooler]}")"
    run_load server
    edit postgres
    fault_ends
    answers_edit 2
    fault_begins
    kill_now pooler
    pause "$seconds"
    run_pooler
    fault_ends
    recovers postgres 5
    never_went_back
}

scenario rules-locked 60 "LOCK TABLE rules is held, while the revision changes"
rules_locked() {
    usual
    fault_begins
    # An edit reads the rules as well, so the lock comes after it, and before the server knows of it.
    signal STOP server
    psql_of postgres --command "UPDATE apps SET name = 'Doto, locked' WHERE bundle = 'com.example.doto'"
    launch lock psql --no-psqlrc --host "$place/postgres" --port "${port[postgres]}" --username postgres \
        --dbname versiongate --command 'BEGIN' --command 'LOCK TABLE rules' --command "SELECT pg_sleep($seconds)"
    wait_until 5 "the lock" is_locked
    signal CONT server
    wait_until 10 "/ready that tells of the lock" ready_says server 'lock timeout'
    wait_until $((seconds + 5)) "the end of the lock" is_gone lock
    fault_ends
    recovers postgres 5
}

# is_crowded_out: the server loses its connections until others have taken their places.
is_crowded_out() {
    ready_says server 'remaining connection slots' && return
    terminate versiongate_server
    return 1
}

# terminate ROLE [POSTGRESQL]: its connections.
terminate() {
    psql_of "${2:-postgres}" --output /dev/null \
        --command "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '$1'"
}

run_pooler() {
    launch pooler "${as_database_user[@]}" pgbouncer "$place/pgbouncer.ini"
    wait_until 10 PgBouncer "$postgres_programs/pg_isready" --quiet --host 127.0.0.1 --port "${port[pooler]}"
}

# url_of_both NAME NAME: asked in this order.
url_of_both() {
    echo "postgresql://versiongate_server:first@127.0.0.1:${port[$1]},127.0.0.1:${port[$2]}/versiongate"
}

# replicated NAME: whether a standby has the last edit.
replicated() { [[ $(psql_of "$1" --command "SELECT title FROM rules WHERE key = 'fault'") == "Edit $edits" ]]; }

promote() {
    psql_of "$1" --command 'SELECT pg_promote(true, 30)' --output /dev/null
}

connected_to() {
    [[ $(psql_of "$1" --command \
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'versiongate_server'") -gt 0 ]]
}

revision() { psql_of "$1" --command 'SELECT revision FROM policy_revision'; }

is_locked() {
    [[ $(psql_of postgres --command \
        "SELECT count(*) FROM pg_locks WHERE relation = 'rules'::regclass AND mode = 'AccessExclusiveLock'") == 1 ]]
}

# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# What can happen to those who read what the server prints, to those who watch it, and to its memory. It follows edits
# and answers all the while, and it ends in time.

scenario log-disk-full 3 "no space where the log is, and then some; needs root for a volume of its own"
log_disk_full() {
    need_root "a volume of its own"
    mkdir "$place/volume"
    mount -t tmpfs -o size=64k tmpfs "$place/volume"
    in_both_formats "$place/volume"
    fault_begins
    dd if=/dev/zero of="$place/volume/filler" bs=4k status=none 2> /dev/null || true
    edits_for "$seconds"
    # What is left of the last block of a file has space yet.
    local end=$(($(now) + 60000))
    until has_dropped text && has_dropped json; do
        [[ $(now) -lt $end ]] || fail "no message was dropped"
        edits_for 1
    done
    rm "$place/volume/filler"
    fault_ends
    recovers postgres 2
    local format
    for format in text json; do
        wait_until 20 "what the log says of it" grep -q 'Log messages were dropped' "$place/volume/$format"
    done
    ends_in_time text json
}

scenario log-reader-gone 3 "who reads the log ends"
log_reader_gone() {
    read_logs
    in_both_formats "$place/pipes"
    fault_begins
    kill_now reader-text
    kill_now reader-json
    edits_for "$seconds"
    fault_ends
    recovers postgres 2
    ends_in_time text json
}

scenario log-reader-stalled 3 "who reads the log reads nothing for a while, and then goes on"
log_reader_stalled() {
    export VERSIONGATE_LOG_LEVEL=trace
    read_logs
    in_both_formats "$place/pipes"
    fault_begins
    signal STOP reader-text
    signal STOP reader-json
    edits_for "$seconds"
    fault_ends
    recovers postgres 2
    signal CONT reader-text
    signal CONT reader-json
    # What the queue had room for comes late and in order.
    local format revision
    revision=$(revision postgres)
    for format in text json; do
        wait_until 20 "the log of $format" grep -q "policy.revision[\":=]*$revision" "${log[reader-$format]}"
    done
    # Stalled again, it does not delay the end.
    signal STOP reader-text
    signal STOP reader-json
    edits_for 1
    ends_in_time text json
}

scenario output-closed 2 "the server is started with its standard streams closed"
output_closed() {
    new_postgres postgres
    silently_to '>&- 2>&- <&-'
    fault_begins
    edits_for "$seconds"
    fault_ends
    recovers postgres 2
    ends_in_time server
}

scenario output-full 2 "the server is started with its standard streams on a full disk"
output_full() {
    new_postgres postgres
    silently_to '> /dev/full 2> /dev/full'
    fault_begins
    edits_for "$seconds"
    fault_ends
    recovers postgres 2
    ends_in_time server
}

scenario silent-management-connections 8 "300 connections to the management listener that say nothing, again and again"
silent_management_connections() {
    usual
    fault_begins
    launch silent "$faults/hostile.py" silent 127.0.0.1 "${management[server]##*:}" --seconds "$seconds" \
        --connections 300
    local asked=0
    until is_gone silent; do
        curl --silent --fail --max-time 2 --output /dev/null "${management[server]}/live" || fail "/live did not answer"
        curl --silent --fail --max-time 2 --output /dev/null "${management[server]}/ready" || fail "/ready did not answer"
        asked=$((asked + 2))
    done
    grep -q 'ended by the server' "${log[silent]}" || fail "$(tail -n 1 "${log[silent]}")"
    fault_ends
    recovers postgres 2
    note "$asked answers of /live and /ready meanwhile"
    ends_in_time server
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
        is_gone "$name" || ends_in_time_alone "$name"
    done
    fault_ends
    recovers postgres 2
    note "$started of 8 started"
    ends_in_time server
}

# is_ready_or_gone_or_stuck NAME UNTIL: a server that gets no memory may be none of the first two for ever.
is_ready_or_gone_or_stuck() { is_ready "$1" || is_gone "$1" || [[ $(now) -ge $2 ]]; }

# read_logs: two named pipes, each with a reader; what that reads is its log.
read_logs() {
    mkdir "$place/pipes"
    local format
    for format in text json; do
        mkfifo "$place/pipes/$format"
        launch "reader-$format" "$faults/reader.py" "$place/pipes/$format"
    done
}

# in_both_formats FOLDER: a PostgreSQL and two servers that log to the files of this folder, `text` and `json`.
in_both_formats() {
    new_postgres postgres
    local format
    for format in text json; do
        # shellcheck disable=SC2016 # for the shell that replaces itself by the server
        server_prefix=(bash -c 'exec "$@" 2> "$0"' "$1/$format")
        run_server "$format" "$(url_of postgres)" --log-format "$format"
        run_load "$format"
    done
}

# silently_to REDIRECTION: a server with its output redirected so that nobody reads that it is ready.
silently_to() {
    server_port[server]=$(free_port)
    management[server]=http://127.0.0.1:$(free_port)
    # shellcheck disable=SC2016 # for the shell that replaces itself by the server
    launch server bash -c 'exec "$@" '"$1" bash env DATABASE_URL="$(url_of postgres)" "$binary" serve \
        --state-dir "$place/state-server" --host 127.0.0.1 --port "${server_port[server]}" \
        --management-port "${management[server]##*:}"
    wait_until 20 "/ready" ready_says server '"ready":true'
    run_load server
}

# has_dropped NAME: whether log messages were.
has_dropped() {
    curl --silent --max-time 5 "${management[$1]}/metrics" |
        grep -q '^versiongate_log_messages_dropped_total [1-9]'
}

# edits_for SECONDS: edits one after the other; each is followed, and the server has not ended.
edits_for() {
    local end=$(($(now) + $1 * 1000)) name
    while [[ $(now) -lt $end ]]; do
        edit postgres
        wait_until 2 "edit $edits" everybody_sees "Edit $edits"
    done
    for name in "${loads[@]}"; do ! is_gone "${name#load-}" || fail "the server ended"; done
}

# ends_in_time NAME...: SIGTERM ends these servers within the time that the documentation says. The loads end first.
ends_in_time() {
    end_loads
    loads=()
    local name
    for name in "$@"; do
        ! is_gone "$name" || fail "the server ended too soon"
        ends_in_time_alone "$name"
    done
}

# 8 seconds, 4 until the last resort, and what the machine takes.
ends_in_time_alone() {
    kill -TERM "${pid[$1]}"
    wait_until 14 "the end of $1" is_gone "$1"
}

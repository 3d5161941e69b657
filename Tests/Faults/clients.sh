# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/faults reads all of these files, which share their names
# Clients that mean harm. The checks of others are answered all the while, and the server's memory does not grow.

scenario never-reading 6 "48 clients ask and ask, and read no answer"
never_reading() {
    export VERSIONGATE_UNREAD_TIMEOUT=1
    hostile never-reading
}

scenario one-address 6 "one address opens 1,000 connections to a server that allows 300, again and again"
one_address() {
    export VERSIONGATE_MAX_CONNECTIONS=300
    hostile taking-places --connections 1000
}

scenario resets 6 "48 clients ask and read no answer, then reset their connections all at once, again and again"
resets() { hostile resets; }

# hostile KIND [OPTION...]: such clients twice, each time for half of the seconds; a leak shows between the two.
hostile() {
    usual
    fault_begins
    local told memory=() half
    half=$(awk -v seconds="$seconds" 'BEGIN { print seconds / 2 }')
    for _ in first second; do
        told=$("$faults/hostile.py" "$1" 127.0.0.1 "${server_port[server]}" --seconds "$half" "${@:2}" \
            2>> "$place/hostile.log") || fail "$(tail -n 1 "$place/hostile.log")"
        ! is_gone server || fail "the server ended"
        memory+=("$(memory server)")
    done
    fault_ends
    recovers postgres 5
    note "twice $told; ${memory[0]} MB, then ${memory[1]} MB"
    [[ $((memory[1] - memory[0])) -le 16 ]] || fail "the memory grew from ${memory[0]} MB to ${memory[1]} MB"
}

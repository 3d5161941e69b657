# shellcheck shell=bash
# shellcheck disable=SC2154 # script/bench reads all of these files, which share their names
# The measurements of script/bench: a function for each, and the loads they use.

# wrk_load NAME SECONDS CONNECTIONS ARGUMENT...: asks as fast as answers come; prints what load.lua reports, and fails if a
# request did.
wrk_load() {
    local name=$1 seconds=$2 connections=$3 output line
    shift 3
    output=$(taskset -c "$load_processors" wrk --threads "$load_threads" --connections "$connections" --duration "${seconds}s" \
        --timeout 10s --script "$benchmarks/load.lua" "$@")
    line=$(grep '^requests=' <<< "$output") || fail "wrk reported nothing about $name: $output"
    [[ $line == *' failed=0 '* ]] || fail "requests to $name failed: $line"
    echo "$line"
}

closed_load() { wrk_load "$@" "${address[$1]}/v1/check" -- "$benchmarks/question.json" "$close"; }

# feed_load NAME SECONDS CONNECTIONS [TAG]: asks for the document of a feed, or whether the one with this tag has changed.
feed_load() {
    local condition=()
    # Each server has its own tag for the same bytes.
    [[ -z ${4:-} ]] || condition=(--header "If-None-Match: ${tag[$1]}")
    wrk_load "${@:1:3}" "${condition[@]}" "${address[$1]}$feed"
}

# go_load COMMAND NAME SECONDS CONNECTIONS ARGUMENT...: what Benchmarks/load reports.
go_load() {
    local command=$1 name=$2 seconds=$3 connections=$4
    shift 4
    taskset -c "$load_processors" env GOMAXPROCS=1 "$folder/load" "$command" --address "$(authority "$name")" \
        --question "$benchmarks/question.json" --answer "$benchmarks/answer.json" --seconds "$seconds" \
        --connections "$connections" "$@" || fail "the load on $name failed; the line above says why"
}

rate_load() {
    if [[ $tls == true ]]; then
        go_load handshakes "$1" "$2" "$3" --tls 1.3 --rate "$4"
    else
        go_load rate "$1" "$2" "$3" --rate "$4"
    fi
}

handshake_load() { go_load handshakes "$@"; }

# in_rounds LOAD ARGUMENT...: warms each server up for a second, and measures one after the other, so that those that are
# compared are neighbours in time. LOAD gets the name, the seconds and the arguments.
in_rounds() {
    local load=$1 round name before after line
    shift
    for name in "${servers[@]}"; do "$load" "$name" 1 "$@" > /dev/null; done
    : > "$folder/measured"
    for ((round = 1; round <= rounds; round++)); do
        for name in "${servers[@]}"; do
            before=$(cpu_ticks "$name")
            line=$("$load" "$name" "$seconds" "$@")
            after=$(cpu_ticks "$name")
            echo "server=$name round=$round ticks=$((after - before)) $line" >> "$folder/measured"
        done
        printf 'round %d of %d\n' "$round" "$rounds" >&2
    done
}

# report TABLE UNIT: the table of what in_rounds measured last.
report() { python3 "$benchmarks/report.py" "$@" "$folder/measured"; }

# title TEXT: what comes next, and on what.
title() {
    printf '\n%s, %d rounds of %d s; server on processor %s, load on %s\n' \
        "$1" "$rounds" "$seconds" "$server_processors" "$load_processors"
    printf '%s | %s | %s | versiongate %s | %s | %s | node %s | %s\n\n' "$(date -u +%F)" \
        "$(sed -nE 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(uname -srm)" \
        "$(git describe --always --dirty 2> /dev/null || echo 'of no commit')" "$(nginx -v 2>&1 | sed 's/.*: //')" \
        "$(go env GOVERSION)" "$(node --version)" "$(openssl version | cut -d ' ' -f 1,2)"
}

measure_throughput() {
    local count notes=
    [[ $tls == false ]] || notes=", over TLS ($(agreed "${servers[0]}" 1_3))"
    [[ $close == false ]] || notes+=', each for one request'
    for count in "$@"; do
        in_rounds closed_load "$count"
        title "POST /v1/check, $count connections$notes"
        report efficiency requests
    done
}

measure_latency() {
    local count name line peak lowest used over=connections
    build_go load load
    [[ $tls == false ]] || over="TLS connections at most, a new one for each"
    for count in "$@"; do
        used=$rate
        if [[ -z $used ]]; then
            lowest=
            for name in "${servers[@]}"; do
                line=$(closed_load "$name" 2 "$count")
                [[ $line =~ requests=([0-9]+)\ microseconds=([0-9]+) ]]
                peak=$((BASH_REMATCH[1] * 1000000 / BASH_REMATCH[2]))
                [[ -n $lowest && $lowest -le $peak ]] || lowest=$peak
            done
            used=$((lowest / 200))00
        fi
        in_rounds rate_load "$count" "$used"
        title "POST /v1/check, $used requests a second over $count $over"
        report latency requests
    done
}

measure_feeds() {
    local count
    publish_feed
    for count in "$@"; do
        verify_feed
        in_rounds feed_load "$count"
        title "GET $feed, ${#feed_document} bytes, $count connections"
        report efficiency requests
        in_rounds feed_load "$count" tag
        title "GET $feed, unchanged (304), $count connections"
        report efficiency requests
        verify_feed
    done
}

measure_loops() {
    in_rounds closed_load "$1"
    title "POST /v1/check, $1 connections, one event loop and two"
    report efficiency requests
    if [[ $load_processors == "$server_processors" ]]; then
        printf 'The load ran on the same processors, so that requests/s of two loops is less than they could answer.\n'
    fi
}

measure_handshakes() {
    local version arguments way suites
    build_go load load
    for version in 1.3 1.2; do
        for way in full resumed; do
            arguments=(--tls "$version")
            [[ $way == full ]] || arguments+=(--resume)
            in_rounds handshake_load "$1" "${arguments[@]}"
            suites=$(grep -o 'suite=[^ ]*' "$folder/measured" | sort -u)
            [[ $suites != *$'\n'* ]] || fail "not all handshakes led to the same suite: ${suites//$'\n'/, }"
            title "$way handshakes with one request each, TLS $version, $suites, $1 at once"
            report efficiency handshakes
        done
    done
}

# edit TITLE: gives the rule that is answered this title. Prints how many milliseconds pass from the commit until it is
# answered; takes a second in all, as psql and the questions need the processors too.
edit() {
    local begin=${EPOCHREALTIME/./} committed rest
    psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "$database_url" \
        --command "UPDATE rules SET title = '$1' WHERE key = 'doto-update'"
    committed=${EPOCHREALTIME/./}
    wait_until versiongate answers versiongate "$question" "${answer/Edit 0/$1}"
    echo $(((${EPOCHREALTIME/./} - committed) / 1000))
    rest=$((1000000 - ${EPOCHREALTIME/./} + begin))
    [[ $rest -le 0 ]] || sleep "0.$(printf '%06d' "$rest")"
}

measure_reloads() {
    local edits=$((rounds * seconds)) title number wrk database_url
    local -A latency=()
    database_url=$("${VERSIONGATE_BINARY:-$(script/build)}" database url --state-dir "$folder/state-versiongate")
    for title in unchanged Edit; do
        closed_load versiongate "$edits" "$1" > "$folder/$title" &
        wrk=$!
        for ((number = 1; number <= edits; number++)); do
            if [[ $title == Edit ]]; then edit "Edit $number"; else edit 'Edit 0'; fi
        done > "$folder/served"
        wait "$wrk"
        latency[$title]=$(grep -oE 'p99=[0-9]+' "$folder/$title")
    done
    mapfile -t served < <(sort -n "$folder/served")
    title "POST /v1/check, $1 connections, an edit of 100,000 rules a second"
    printf 'from commit to served      %s ms in the middle, %s ms at most\n' "${served[edits / 2]}" "${served[-1]}"
    printf 'p99 of checks              %s us without reloads, %s us with\n' "${latency[unchanged]#*=}" "${latency[Edit]#*=}"
    printf 'memory of the server       %d MB now, %d MB at most\n' \
        "$(awk '/^VmRSS/ { printf "%d", $2 / 1000 }' "/proc/${pid[versiongate]}/status")" \
        "$(awk '/^VmHWM/ { printf "%d", $2 / 1000 }' "/proc/${pid[versiongate]}/status")"
    edit 'Edit 0' > /dev/null
}

# Samples the server while it is asked; where the kernel does not let perf do that, callgrind counts the listener alone.
measure_profile() {
    local name before after line
    if ! perf record --quiet --event cpu-clock --output "$folder/perf" true 2> "$folder/perf.log"; then
        printf 'perf cannot sample here (%s), so callgrind counts instructions, without the kernel:\n' \
            "$(tail -n 1 "$folder/perf.log")" >&2
        script/bench instructions --profile message
        return
    fi
    title "POST /v1/check, $1 connections"
    for name in "${servers[@]}"; do
        closed_load "$name" 1 "$1" > /dev/null
        before=$(cpu_ticks "$name")
        perf record --quiet --event cpu-clock --freq 1999 --pid "$(processes "$name" | paste -sd ,)" \
            --output "$folder/perf" 2> "$folder/perf.log" &
        local perf=$!
        line=$(closed_load "$name" "$((rounds * seconds))" "$1")
        kill -INT "$perf"
        wait "$perf" || true
        after=$(cpu_ticks "$name")
        [[ $line =~ requests=([0-9]+) ]]
        printf '%s\n' "$name"
        perf script --input "$folder/perf" --fields ip,sym,dso 2> "$folder/perf.log" |
            awk '{ object = $NF; gsub(/[()]/, "", object); print 1, $1 ~ /^ffff/ ? "[kernel]" : object, $2 }' |
            awk -v requests="${BASH_REMATCH[1]}" -v unit=us -v total="$(((after - before) * 1000000 / $(getconf CLK_TCK)))" \
                -f "$benchmarks/components.awk"
    done
}

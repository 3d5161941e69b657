# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # script/bench reads all of these files, which share their names
# The servers that script/bench measures: how each is started, asked and stopped, and the processors they have.

readonly start_seconds=60
question=$(< "$benchmarks/question.json")
policy=rules.sql answer=$(< "$benchmarks/answer.json")
if [[ $measurement == reloads ]]; then
    policy=large-policy.sql answer='{"messages":[{"id":"doto-update","title":"Edit 0","text":"Please update."}]}'
fi
readonly question policy answer
readonly other_question=${question/1.1.0/1.2.0} other_answer='{"messages":[]}'

declare -A pid=() address=() tag=()
folder=$(mktemp -d "${TMPDIR:-/tmp}/versiongate-bench.XXXXXX")
# The private PostgreSQL of a root user runs as another user, who must be able to pass through.
chmod 711 "$folder"

stop_servers() {
    local process
    for process in "${pid[@]}"; do kill -TERM "$process" 2> /dev/null || true; done
    for process in "${pid[@]}"; do wait "$process" 2> /dev/null || true; done
    pid=()
}

clean_up() {
    local status=$?
    stop_servers
    [[ $status != 0 ]] || rm -rf -- "$folder"
    [[ ! -e $folder ]] || rmdir -- "$folder" 2> /dev/null || printf 'The logs are in %s\n' "$folder" >&2
}
trap clean_up EXIT

# The server and the load have a socket for each connection, and some files more.
allow_open_files() {
    local most=0 count
    for count in "${connections[@]}"; do [[ $count -le $most ]] || most=$count; done
    local needed=$((most + 1024))
    [[ $(ulimit -Sn) == unlimited || $(ulimit -Sn) -ge $needed ]] || ulimit -Sn "$needed" 2> /dev/null ||
        ulimit -n "$needed" 2> /dev/null ||
        fail "$most connections need $needed open files, and this shell may have $(ulimit -Hn): raise it (ulimit -n, as root)"
}

# The first two processors that this shell may use: one for the server, one for the load. Two event loops have both, and
# the load has others only where two are left.
choose_processors() {
    local allowed part all=()
    allowed=$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)
    for part in ${allowed//,/ }; do
        mapfile -t -O "${#all[@]}" all < <(seq "${part%-*}" "${part#*-}")
    done
    [[ ${#all[@]} -ge 2 ]] || fail "needs two processors, one for the server and one for the load; there is ${#all[@]}"
    server_processors=${all[0]} load_processors=${all[1]} load_threads=1
    [[ $measurement == loops ]] || return 0
    server_processors=${all[0]},${all[1]} load_processors=$server_processors load_threads=2
    [[ ${#all[@]} -lt 4 ]] || load_processors=${all[2]},${all[3]}
}

# start NAME PROCESSORS COMMAND...: runs it on these processors.
start() {
    local name=$1 processors=$2
    shift 2
    : > "$folder/$name.log"
    taskset -c "$processors" "$@" >> "$folder/$name.log" 2>&1 < /dev/null &
    pid[$name]=$!
}

# wait_until NAME CONDITION...: until the condition succeeds; gives up when the server ends or takes too long.
wait_until() {
    local name=$1 tries
    shift
    for ((tries = start_seconds * 20; tries > 0; tries--)); do
        "$@" && return 0
        kill -0 "${pid[$name]}" 2> /dev/null || break
        sleep 0.05
    done
    tail -n 20 "$folder/$name.log" >&2
    fail "$name did not get ready; the lines above are the end of $folder/$name.log"
}

# printed_address NAME: takes the address that the server printed first.
printed_address() {
    local found
    found=$(grep -oE 'https?://127\.0\.0\.1:[0-9]+' "$folder/$1.log" | head -n 1)
    [[ -n $found ]] && address[$1]=$found
}

# authority NAME: its host and port.
authority() { echo "${address[$1]#*://}"; }

# exchange NAME REQUEST: sends a request that asks for the connection to be closed, and prints the response.
exchange() {
    local authority
    authority=$(authority "$1")
    if [[ ${address[$1]} == https:* ]]; then
        printf '%s' "$2" | openssl s_client -quiet -connect "$authority" -CAfile "$folder/certificate.pem" \
            -verify_return_error 2> /dev/null
        return
    fi
    exec 3<> "/dev/tcp/${authority%:*}/${authority#*:}" || return 1
    printf '%s' "$2" >&3
    cat <&3
    exec 3>&-
}

# ask NAME BODY: the body of the answer.
ask() {
    local request response
    printf -v request 'POST /v1/check HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
        "$(authority "$1")" "${#2}" "$2"
    response=$(exchange "$1" "$request")
    [[ $response == 'HTTP/1.1 200 '* ]] || return 1
    printf '%s' "${response#*$'\r\n\r\n'}"
}

answers() { [[ $(ask "$1" "$2" 2> /dev/null) == "$3" ]]; }

# make_certificate: one with a key on P-256, for all servers.
make_certificate() {
    [[ ! -e $folder/certificate.pem ]] || return 0
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2> "$folder/openssl.log" ||
        fail "openssl makes no certificate: $(tail -n 1 "$folder/openssl.log")"
}

# run_versiongate NAME PROCESSORS: one with the policy in a PostgreSQL of its own.
run_versiongate() {
    local name=$1 binary state=$folder/state-$1 database_url options=()
    unset DATABASE_URL
    binary=${VERSIONGATE_BINARY:-$(script/build)}
    if [[ $tls == true ]]; then
        make_certificate
        options=(--tls-certificate "$folder/certificate.pem" --tls-key "$folder/key.pem")
    fi
    # All connections come from one address.
    start "$name" "$2" "$binary" serve --state-dir "$state" \
        --host 127.0.0.1 --port 0 --management-host 127.0.0.1 --management-port 0 --max-connections-per-address 8192 \
        "${options[@]}"
    wait_until "$name" printed_address "$name"
    database_url=$("$binary" database url --state-dir "$state")
    psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname "$database_url" --file "$benchmarks/$policy" >&2
    wait_until "$name" answers "$name" "$question" "$answer"
}

start_versiongate() { run_versiongate versiongate "$server_processors"; }

# A server has an event loop for each processor that it may use when it starts. Then both may use the same.
start_one() {
    run_versiongate one "${server_processors%,*}"
    taskset --all-tasks --pid --cpu-list "$server_processors" "${pid[one]}" > /dev/null
    has_event_loops one 1
}

start_two() {
    run_versiongate two "$server_processors"
    has_event_loops two 2
}

# has_event_loops NAME COUNT: fails unless the public listener has that many threads.
has_event_loops() {
    local count
    count=$(grep -l '^NIO-ELT-1-#' "/proc/${pid[$1]}/task/"*/comm | wc -l)
    [[ $count == "$2" ]] || fail "the server that should have $2 event loops has $count"
}

start_nginx() {
    local port tries ssl=
    make_certificate
    [[ $tls == false ]] || ssl=' ssl'
    for ((tries = 20; tries > 0; tries--)); do
        port=$((20000 + RANDOM % 10000))
        (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || break
    done
    mkdir -p "$folder/nginx"
    chmod 711 "$folder/nginx"
    sed -e "s|@FOLDER@|$folder/nginx|" -e "s|@PORT@|$port|" -e "s|@SSL@|$ssl|" -e "s|@ANSWER@|$answer|" \
        -e "s|@CERTIFICATE@|$folder/certificate.pem|" -e "s|@KEY@|$folder/key.pem|" \
        "$benchmarks/peers/nginx/nginx.conf.template" > "$folder/nginx.conf"
    address[nginx]=http${ssl:+s}://127.0.0.1:$port
    start nginx "$server_processors" nginx -c "$folder/nginx.conf" -p "$folder/nginx" -e stderr
    wait_until nginx answers nginx "$question" "$answer"
}

# build_go FOLDER NAME: builds a program of Benchmarks with the standard library alone.
build_go() { (cd "$benchmarks/$1" && GOFLAGS=-mod=readonly GOPROXY=off go build -o "$folder/$2" .); }

start_go() {
    build_go peers/go go-peer
    start go "$server_processors" env GOMAXPROCS=1 "$folder/go-peer"
    wait_until go printed_address go
}

start_node() {
    start node "$server_processors" node "$benchmarks/peers/node/server.js"
    wait_until node printed_address node
}

# Every server must give the very same bytes; those that decide must also recognise a client that needs no message. With
# TLS, both must have agreed on the same with the same client.
verify() {
    local name version
    for name in "${servers[@]}"; do
        answers "$name" "$question" "$answer" ||
            fail "$name answers $(ask "$name" "$question" || true) instead of $answer"
        [[ $name == nginx ]] || answers "$name" "$other_question" "$other_answer" ||
            fail "$name answers $(ask "$name" "$other_question" || true) to version 1.2.0 instead of $other_answer"
        [[ $tls == true ]] || continue
        for version in 1_3 1_2; do
            [[ $(agreed "$name" "$version") == "$(agreed "${servers[0]}" "$version")" ]] ||
                fail "$name and ${servers[0]} do not use the same TLS: $(agreed "$name" "$version")," \
                    "$(agreed "${servers[0]}" "$version")"
        done
    done
}

readonly feed=/v1/feeds/com.example.doto/iversion.plist

# feed_response NAME [TAG]: the response with the document of the feed, or to the question whether it has changed.
feed_response() {
    local request condition=
    [[ -z ${2:-} ]] || condition=$'If-None-Match: '$2$'\r\n'
    printf -v request 'GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n' "$feed" "$(authority "$1")" "$condition"
    exchange "$1" "$request"
}

# has_notes NAME: whether the document has release notes by now; sets feed_document.
has_notes() {
    local response
    response=$(feed_response "$1")
    feed_document=${response#*$'\r\n\r\n'}
    [[ $response == 'HTTP/1.1 200 '* && $feed_document == *'lists keep in step'* ]]
}

# publish_feed: adds what feed.sql says to the policy of versiongate, and copies its document to the files of nginx.
publish_feed() {
    psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --file "$benchmarks/feed.sql" >&2 \
        --dbname "$("${VERSIONGATE_BINARY:-$(script/build)}" database url --state-dir "$folder/state-versiongate")"
    wait_until versiongate has_notes versiongate
    if [[ -n ${pid[nginx]:-} ]]; then
        mkdir -p "$folder/nginx/files${feed%/*}"
        printf '%s\n' "$feed_document" > "$folder/nginx/files$feed"
        chmod -R a+rX "$folder/nginx/files"
    fi
}

# verify_feed: every server answers the same bytes, and 304 to its own tag, which it sets.
verify_feed() {
    local name response
    for name in "${servers[@]}"; do
        response=$(feed_response "$name")
        [[ $response == 'HTTP/1.1 200 '* && ${response#*$'\r\n\r\n'} == "$feed_document" ]] ||
            fail "$name answers ${response%%$'\r'*} and another document than versiongate at first"
        tag[$name]=$(sed -nE 's/^ETag: (.*)\r$/\1/p' <<< "$response")
        response=$(feed_response "$name" "${tag[$name]}")
        [[ $response == 'HTTP/1.1 304 '* ]] || fail "$name answers ${response%%$'\r'*} to the tag '${tag[$name]}' of its document"
    done
}

# agreed NAME VERSION: the protocol, suite, key exchange and signature of a TLS connection.
agreed() {
    local shown
    shown=$(openssl s_client "-tls$2" -connect "$(authority "$1")" 2> /dev/null < /dev/null) || true
    sed -nE 's/^New, (TLS[^,]*), Cipher is (.*)/\1 \2/p; s/^Server Temp Key: ([^,]*),.*/\1/p
        s/^Peer signature type: //p; s/^Peer signing digest: //p' <<< "$shown" | sort | paste -sd ' '
}

# processes NAME: the server's process and all below it.
processes() {
    # Some processes end while they are read.
    { cat /proc/[0-9]*/stat 2> /dev/null || true; } | awk -v root="${pid[$1]}" '
        {
            process = $1
            sub(/^.*\) /, "")                 # the name of a process may hold blanks
            parent[process] = $2
        }
        END {
            for (process in parent) {
                for (p = process; p in parent && p != root; p = parent[p]) {}
                if (p == root) print process
            }
        }'
}

# cpu_ticks NAME: what the server's process, its threads and its children (also those that have ended) have used.
cpu_ticks() {
    local process
    for process in $(processes "$1"); do cat "/proc/$process/stat" 2> /dev/null || true; done |
        awk '{ sub(/^.*\) /, ""); sum += $12 + $13 + $14 + $15 } END { print sum + 0 }'
}

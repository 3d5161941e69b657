#!/usr/bin/env bash
# Counts the user instructions that a request costs, and fails where one costs more than it may.
#
#   script/bench instructions [--profile NAME] [NAME...]
#
#   NAME              which counts, of those in Benchmarks/Listener/instructions.txt, or "hostile" for requests that were
#                     made to be costly; without any, all
#   --profile NAME    shows the components and the functions that the instructions of one count are spent in, instead of
#                     judging
#
# Where both `small` and `large` are counted, it also says how much more a check costs among 100,000 rules than among 10,
# and fails above a tenth.
#
# Unlike times, the counts are the same on a busy machine: callgrind runs the listener with a policy of its own and no
# database, and counts what happens between two points. Instructions of the kernel are not among them.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly limits=Benchmarks/Listener/instructions.txt
profile='' separate=no names=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --profile) profile=${2:-}; names=("$profile"); shift 2 ;;
        -*) printf "script/bench: unknown option '%s'\n" "$1" >&2; exit 64 ;;
        *) names+=("$1"); shift ;;
    esac
done

script/bootstrap instructions
binary=$(script/build --product ListenerBenchmark)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
# valgrind cannot read the debug information of Swift.
strip --strip-debug -o "$folder/listener" "$binary"

# run NAME MEASURE ARGUMENT...: runs the listener with these arguments under callgrind while MEASURE asks it.
run() {
    local name=$1 measure=$2
    shift 2
    mkfifo "$folder/$name.input"
    valgrind --tool=callgrind --instr-atstart=no --separate-threads="$separate" --callgrind-out-file="$folder/$name.out" \
        "$folder/listener" "$@" \
        > "$folder/$name.log" 2>&1 < "$folder/$name.input" &
    local pid=$! url='' status=0
    exec 4> "$folder/$name.input"
    for _ in {1..1200}; do
        url=$(grep -m 1 -oE 'http://[0-9.:]+' "$folder/$name.log") && break
        kill -0 "$pid" 2> /dev/null || break
        sleep 0.1
    done
    [[ -n $url ]] || { cat "$folder/$name.log" >&2; exit 1; }
    "$measure" "$name" "$url" "$pid" || status=$?
    exec 4>&-
    wait "$pid"
    return "$status"
}

bursts() {
    requests=$(python3 Benchmarks/Listener/bursts.py --url "$2" --pid "$3" --request "$request")
}

hostile() {
    python3 Benchmarks/Listener/hostile.py --url "$2" --pid "$3" --out "$folder/$1.out"
}

# count NAME REQUEST RULES LIMIT: counts one, and judges it.
failed=0
declare -A counted=()
count() {
    local name=$1 request=$2 rules=$3 limit=$4 out=$folder/$1.out requests spent
    run "$name" bursts "$rules" || exit 1
    spent=$(($(awk '/^(totals|summary):/ { sum = $2 } END { print sum }' "$out") / requests))
    if [[ -n $profile ]]; then
        callgrind_annotate --threshold=100 "$out" |
            awk '/^ *[0-9,]+ \(.*\[/ {
                count = $1; object = $NF
                gsub(",", "", count); gsub(/[][]/, "", object); sub(/^ *[0-9,]+ \([^)]*\) +[^:]*:/, "")
                print count, object, $0
            }' | awk -v requests="$requests" -v unit=instructions -f Benchmarks/components.awk
        printf '\n'
        callgrind_annotate --threshold=95 "$out" | swift demangle --simplified |
            awk -v requests="$requests" '/^ *[0-9,]+ \(/ { n = $1; gsub(",", "", n); sub(/^ *[^)]*\) */, ""); printf "%8d  %s\n", n / requests, $0 }'
        return
    fi
    counted[$name]=$spent
    local verdict=
    ((spent <= limit)) || { verdict='  MORE THAN IT MAY'; failed=1; }
    printf '%-10s %8d of %8d%s\n' "$name" "$spent" "$limit" "$verdict"
}

while read -r name request rules limit; do
    [[ -z $name || $name == '#'* ]] && continue
    [[ ${#names[@]} == 0 || " ${names[*]} " == *" $name "* ]] || continue
    count "$name" "$request" "$rules" "$limit"
done < "$limits"
if [[ -n ${counted[small]:-} && -n ${counted[large]:-} ]]; then
    ratio=$((100 * counted[large] / counted[small])) verdict=
    ((ratio <= 110)) || { verdict='  MORE THAN IT MAY'; failed=1; }
    printf 'among 100,000 rules a check costs %d.%02d times what it costs among 10%s\n' \
        $((ratio / 100)) $((ratio % 100)) "$verdict"
fi
if [[ -z $profile && ( ${#names[@]} == 0 || " ${names[*]} " == *' hostile '* ) ]]; then
    # What is made off the event loops does not count.
    separate=yes run hostile hostile 1000 --rate-limit --costly || failed=1
fi
if [[ $failed != 0 ]]; then
    printf 'script/bench: %s says what a request may cost; see script/bench instructions --profile NAME\n' "$limits" >&2
    exit 1
fi

# Prints a table of script/bench from lines of NAME=NUMBER, one for each server and round: medians over the rounds. A
# ratio is the median of the ratios round by round, since neighbours in time are what compares.
#
#   awk -v table=efficiency|latency -v unit=requests -v hertz=100 -f report.awk FILE

# median of list[1...rounds]; sets least and most.
function median(list,    i, j, swap) {
    for (i = 2; i <= rounds; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap
        }
    least = list[1]; most = list[rounds]
    return rounds % 2 ? list[(rounds + 1) / 2] : (list[rounds / 2] + list[rounds / 2 + 1]) / 2
}

function middle(field, name,    round, list) {
    for (round = 1; round <= rounds; round++) list[round] = value[field, name, round]
    return median(list)
}

function seconds(name, round) { return value["microseconds", name, round] / 1e6 }

# ratios FIELD TITLE: of the first server and each other; "one" and "two" loops the other way round.
function ratios(field, title,    i, round, list, above, below, found) {
    for (i = 2; i <= count; i++) {
        above = order[1]; below = order[i]
        if (above == "one") { above = "two"; below = "one" }
        for (round = 1; round <= rounds; round++) list[round] = value[field, above, round] / value[field, below, round]
        found = median(list)
        printf "%-26s %-18s %.2f   (%.2f to %.2f)\n", above " / " below, title, found, least, most
    }
    return found
}

{
    for (i = 1; i <= NF; i++) { split($i, pair, "="); field[pair[1]] = pair[2] }
    name = field["server"]; round = field["round"] + 0
    if (!(name in seen)) { seen[name] = 1; order[++count] = name }
    if (round > rounds) rounds = round
    for (key in field) value[key, name, round] = field[key] + 0
    if (field["ticks"] < 10) {
        print "script/bench: " name " used too little CPU time to measure: use more --seconds" > "/dev/stderr"
        failed = 1
        exit 1
    }
    value["efficiency", name, round] = field["requests"] / (field["ticks"] / hertz)
    value["throughput", name, round] = field["requests"] / seconds(name, round)
    value["busy", name, round] = 100 * field["ticks"] / hertz / seconds(name, round)
    if (field["unanswered"] > 0) behind[name] = behind[name] sprintf(" %d of %d", field["unanswered"], field["planned"])
    hasLatency = "p50" in field
}

END {
    if (failed) exit 1
    if (table == "latency") {
        printf "%-12s %9s %9s %9s %9s %7s %14s\n", "server", "p50 us", "p99 us", "p99.9 us", "max us", "CPU", "load late us"
        for (i = 1; i <= count; i++) {
            name = order[i]
            middle("max", name); worst = most
            printf "%-12s %9d %9d %9d %9d %6d%% %14d\n", name, middle("p50", name), middle("p99", name),
                middle("p999", name), worst, middle("busy", name), middle("late", name)
        }
        print ""
        for (i = 1; i <= count; i++) {
            name = order[i]
            if (name in behind)
                printf "%s could not keep up: unanswered, round by round,%s\n", name, behind[name]
            if (4 * middle("late", name) > middle("p999", name))
                printf "%s: the load itself sent late; above p99 the figures are more its own than the server's\n", name
        }
        ratios("p99", "p99")
        ratios("p999", "p99.9")
    } else {
        printf "%-12s %17s %17s %13s %7s", "server", unit "/CPU s", "least to most", unit "/s", "CPU"
        print hasLatency ? sprintf(" %8s %8s", "p50 us", "p99 us") : ""
        for (i = 1; i <= count; i++) {
            name = order[i]
            found = middle("efficiency", name); range = sprintf("%d - %d", least, most)
            printf "%-12s %17d %17s %13d %6d%%", name, found, range, middle("throughput", name), middle("busy", name)
            print hasLatency ? sprintf(" %8d %8d", middle("p50", name), middle("p99", name)) : ""
        }
        print ""
        found = ratios("efficiency", unit "/CPU s")
        if (order[1] == "one") {
            ratios("throughput", unit "/s")
            printf "\nBy requests/CPU s, two loops with a processor each answer %.2f times what one does.\n", 2 * found
        }
    }
}

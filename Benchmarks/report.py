"""Prints a table of script/bench from lines of NAME=NUMBER, one for each server and round: medians over the rounds. A ratio
is the median of the ratios round by round, since neighbours in time are what compares.

    report.py latency|efficiency UNIT FILE
"""

import os
import statistics
import sys

HERTZ = os.sysconf("SC_CLK_TCK")


def read(file):
    """For each server, in their order, for each figure its values round by round."""
    servers = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            texts = dict(pair.split("=", 1) for pair in line.split())
            name = texts.pop("server")
            row = {key: float(text) for key, text in texts.items() if key != "suite"}
            if row["ticks"] < 10:
                sys.exit(f"script/bench: {name} used too little CPU time to measure: use more --seconds")
            processor, seconds = row["ticks"] / HERTZ, row["microseconds"] / 1e6
            row |= {"efficiency": row["requests"] / processor, "throughput": row["requests"] / seconds,
                    "busy": 100 * processor / seconds}
            for key, value in row.items():
                servers.setdefault(name, {}).setdefault(key, []).append(value)
    return servers


def ratios(servers, key, title):
    """Of the first server and each other; "one" and "two" loops the other way round. Returns the last."""
    first, *others = servers
    for other in others:
        above, below = ("two", "one") if first == "one" else (first, other)
        found = [one / another for one, another in zip(servers[above][key], servers[below][key])]
        print(f"{f'{above} / {below}':26} {title:18} {statistics.median(found):.2f}   ({min(found):.2f} to {max(found):.2f})")
    return statistics.median(found) if others else None


def latency(servers, _):
    print(f"{'server':12} {'p50 us':>9} {'p99 us':>9} {'p99.9 us':>9} {'max us':>9} {'CPU':>7} {'load late us':>14}")
    middles = {name: {key: int(statistics.median(values)) for key, values in found.items()} for name, found in servers.items()}
    for name, found in middles.items():
        print(f"{name:12} {found['p50']:9} {found['p99']:9} {found['p999']:9} {int(max(servers[name]['max'])):9} "
              f"{found['busy']:6}% {found['late']:14}")
    print()
    for name, found in servers.items():
        if behind := [f"{int(left)} of {int(all_of_them)}" for left, all_of_them in zip(found["unanswered"], found["planned"]) if left]:
            print(f"{name} could not keep up: unanswered, round by round, {' '.join(behind)}")
        if 4 * statistics.median(found["late"]) > statistics.median(found["p999"]):
            print(f"{name}: the load itself sent late; above p99 the figures are more its own than the server's")
    ratios(servers, "p99", "p99")
    ratios(servers, "p999", "p99.9")


def efficiency(servers, unit):
    has_latency = all("p50" in found for found in servers.values())
    print(f"{'server':12} {f'{unit}/CPU s':>17} {'least to most':>17} {f'{unit}/s':>13} {'CPU':>7}"
          + (f" {'p50 us':>8} {'p99 us':>8}" if has_latency else ""))
    for name, found in servers.items():
        middle = {key: int(statistics.median(values)) for key, values in found.items()}
        between = f"{int(min(found['efficiency']))} - {int(max(found['efficiency']))}"
        print(f"{name:12} {middle['efficiency']:17} {between:>17} {middle['throughput']:13} {middle['busy']:6}%"
              + (f" {middle['p50']:8} {middle['p99']:8}" if has_latency else ""))
    print()
    found = ratios(servers, "efficiency", f"{unit}/CPU s")
    if "one" in servers:
        ratios(servers, "throughput", f"{unit}/s")
        print(f"\nBy requests/CPU s, two loops with a processor each answer {2 * found:.2f} times what one does.")


table, unit, file = sys.argv[1:]
{"latency": latency, "efficiency": efficiency}[table](read(file), unit)

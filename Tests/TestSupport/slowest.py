#!/usr/bin/env python3
"""Prints the ten slowest tests, as far as the record of a run of swift test tells.

  Tests/TestSupport/slowest.py EVENTS WIDTH      for example: swift test --event-stream-output-path EVENTS

Of a test with arguments the record says when each case begins and ends. Of any other it says when it ended, but only
when it was due: it may have waited for one of the WIDTH places. Tests get a place in the order in which they are due, so
when it began is inferred from the places that others left. A test that had to wait for something else, such as another
test of a serialized suite, looks slower than it is.
"""
import collections
import json
import sys


def durations(lines, width):
    tests = {}
    events = []
    for line in lines:
        record = json.loads(line)
        payload = record["payload"]
        if record["kind"] == "test":
            tests[payload["id"]] = payload
        elif payload.get("testID") in tests:
            events.append((payload["instant"]["absolute"], payload["kind"], payload["testID"]))
    cases = collections.Counter(test for _, kind, test in events if kind == "testCaseStarted")

    due = collections.deque()
    free = width
    begins = {}
    running = collections.Counter()
    seconds = collections.Counter()
    since = {}
    for time, kind, test in events:
        if tests[test]["kind"] != "function":
            continue
        if kind == "testStarted":
            due.extend([test] * (cases[test] or 1))
        elif kind == "testCaseStarted":
            if not running[test]:
                since[test] = time
            running[test] += 1
        elif kind == "testCaseEnded":
            running[test] -= 1
            if not running[test]:
                seconds[test] += time - since[test]
            free += 1
        elif kind == "testEnded" and not cases[test]:
            seconds[test] = time - begins.get(test, time)
            free += 1
        while free > 0 and due:
            begins.setdefault(due.popleft(), time)
            free -= 1
    return [(seconds[test], test.split(".")[0], tests[test].get("displayName") or tests[test]["name"]) for test in seconds]


with open(sys.argv[1]) as events:
    slowest = sorted(durations(events, int(sys.argv[2])), reverse=True)[:10]
print("\n== The ten slowest tests, as far as the record tells")
for seconds, target, title in slowest:
    print(f"{seconds:8.1f} s  {target}: {title}")

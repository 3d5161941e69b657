#!/usr/bin/env python3
"""Runs tests with each mutant of a list, and writes which of them kill it.

  Tests/Mutants/run.py sql [--tree TREE] [--results FILE] [NUMBER...]
  Tests/Mutants/run.py swift --tree TREE ...

TREE is a checkout in which `swift build --build-tests` ran: this one by default. For mutants of Swift it is a copy in which
make_swift.py --into changed the sources. FILE gets the list with what kills each mutant, and by default is the list itself;
what is known there is not run again. Mutant 0 is none: it is the first of a FILE, runs to the end, and must survive.

The stages of a mutant are tried in order up to the first issue, which ends the run. With --stages 1 the later ones are left
to another run.
"""
import argparse
import csv
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import make_sql

HERE = pathlib.Path(__file__).parent
BINARY = ".build/debug/versiongatePackageTests.xctest"
# For so many seconds a run may print nothing.
PATIENCE = 150
# These look for a passage of a function, or for the text of the sources, and would find any mutant.
SKIPPED = r"InjectedFaultTests|PackageTests|PolicyWarningTests/findsFaults"
TARGETS = ["VersionGateCommands", "PolicyDocument", "PolicyPages", "PolicyServer", "PolicyStore", "Equivalence", "UpdatePolicy",
           "UpdateFeeds", "FeedTemplates", "CheckListener", "Postgres", "PrivatePostgres", "Systemd"]
ALL = rf"^({'|'.join(TARGETS)})Tests\."
CASES = "TranscriptTests/answers"
# For each stage a filter of tests, and what they find in their environment.
SQL_STAGES = [
    (CASES, {"VERSIONGATE_CASES": "sql,refusals"}),
    (r"^(PolicyStoreTests|EquivalenceTests)\.", {}),
    (CASES, {"VERSIONGATE_CASES": "commands,inputs,server"}),
    (r"^(VersionGateCommands|PolicyDocument|PolicyPages|PolicyServer)Tests\.", {"VERSIONGATE_CASES": "server"}),
]


def stages(kind, row):
    """What is tried for a mutant, one after the other: for Swift the tests of its target, of commands the cases; then all."""
    if kind == "sql":
        return SQL_STAGES
    own = row["file"].split("/")[1] if row else None
    return [(rf"^{own}Tests\." if own in TARGETS[1:] else CASES, {}), (ALL, {})]


class Run:
    """A process of tests that is ended at its first issue."""

    def __init__(self, tree, filter, environment, log):
        arguments = [tree / BINARY, "--testing-library", "swift-testing", "--filter", filter, "--skip", SKIPPED]
        self.issue, self.tests, self.is_loaded = None, 0, True
        self.process = subprocess.Popen(
            arguments, cwd=tree, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", start_new_session=True)
        self.latest = time.monotonic()
        threading.Thread(target=self.watch).start()
        for line in self.process.stdout:
            self.latest = time.monotonic()
            log.write(line)
            self.read(re.sub(r"\x1b\[\d+m", "", line.strip()))
        status = self.process.wait()
        if not self.issue and (status != 0 or self.tests == 0):
            self.issue = f"the tests ended with {status}"

    def watch(self):
        while self.process.poll() is None:
            time.sleep(1)
            if time.monotonic() > self.latest + PATIENCE:
                self.end("the tests hang")

    def read(self, line):
        if "the mutant does not load" in line:
            self.is_loaded = False
        if match := re.match(r"✘ Test (.*?) recorded an issue.*? at ([\w./-]+\.(?:swift|case|txt|tsv):\d+)", line):
            self.end(f"{match[2]} {match[1]}")
        elif match := re.match(r"✔ Test run with (\d+) test", line):
            self.tests = int(match[1])

    def end(self, issue):
        if not self.issue:
            self.issue = issue
            self.process.send_signal(signal.SIGKILL)


def try_mutant(kind, tree, number, row, tried, log):
    """What kills a mutant in some of its stages, in which, and after how many seconds."""
    begin = time.monotonic()
    environment = {"SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": "8", "VERSIONGATE_SEED": "1"}
    killer = "survived"
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        os.chmod(file.name, 0o644)
        if kind == "swift":
            environment["VERSIONGATE_MUTANT"] = number
        elif number != "0":
            places = [function for function in make_sql.functions(tree) if function.name == row["function"]]
            text = places and places[0].mutated(int(row["line"]), row["before"], row["after"])
            if not text:
                return {"killed by": "not in the sources", "stage": 0, "seconds": 0}
            file.write(places[0].replacement(text))
            file.flush()
            environment["VERSIONGATE_MUTANT_SQL"] = file.name
        for stage in tried:
            filter, more = stages(kind, row)[stage]
            run = Run(tree, filter, environment | more, log)
            if run.issue:
                killer = run.issue if run.is_loaded else "does not load"
                break
    return {"killed by": killer, "stage": stage + 1, "seconds": round(time.monotonic() - begin)}


def read(file):
    """The rows of a list, by number."""
    if not file.exists():
        return {}
    with open(file) as lines:
        return {row["number"]: row for row in csv.DictReader(lines, dialect="excel-tab", quoting=csv.QUOTE_NONE)}


def write(file, rows):
    """Writes a list, each row with the same columns."""
    with open(file, "w", newline="") as lines:
        style = {"dialect": "excel-tab", "lineterminator": "\n", "quoting": csv.QUOTE_NONE, "quotechar": None}
        writer = csv.DictWriter(lines, list(rows[0]), **style)
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["sql", "swift"])
    parser.add_argument("--tree", type=pathlib.Path, default=HERE.parent.parent)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--stages", type=int, default=4, help="how many stages are tried at most")
    parser.add_argument("numbers", nargs="*")
    options = parser.parse_intermixed_args()
    rows = read(HERE / f"{options.kind}.tsv")
    results = options.results or HERE / f"{options.kind}.tsv"
    known = {number: row for number, row in read(results).items() if row.get("killed by")}
    with open(results.with_suffix(".log"), "a") as log:
        for number in ([] if known else ["0"]) + (options.numbers or list(rows)):
            row = rows.get(number)
            tried = int(known[number]["stage"]) if number in known else 0
            last = min(options.stages, len(stages(options.kind, row)))
            if number in known and known[number]["killed by"] != "survived" or tried >= last:
                continue
            log.write(f"== mutant {number}\n")
            found = try_mutant(options.kind, options.tree, number, row, range(tried, last), log)
            if row:
                known[number] = row | found
                write(results, [known[number] for number in rows if number in known])
            elif found["killed by"] != "survived":
                sys.exit(f"a test fails without any mutant: {found['killed by']}")
    for number, row in rows.items():
        if row.get("killed by") != "survived" and known.get(number, {}).get("killed by") == "survived":
            print(f"mutant {number} survives, which was killed by {row['killed by']}")


if __name__ == "__main__":
    main()

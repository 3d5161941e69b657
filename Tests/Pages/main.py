"""Opens the pages for people and the web component in Chromium; script/test-web has the options."""

import argparse
import concurrent.futures
import shutil
import subprocess
import sys

import attacks
import component
import large
import origins
import pictures
import story
from servers import REPOSITORY, servers

PLACE = REPOSITORY / ".build" / "pages"
SCREENSHOTS, PICTURES = PLACE / "screenshots", PLACE / "pictures"
# The longest first.
USUAL = "story", "component", "attacks", "pictures", "origins"
# What the tests ask does not change the numbers meanwhile.
COUNTS_SELDOM = "--count-interval", "3600"


def judge(part, seed, faults):
    """Adds what is wrong in a part."""
    if part == "component":
        return component.judge(faults, SCREENSHOTS)
    if part == "origins":
        return origins.judge(faults)
    with servers() as (_, serve):
        server = serve("server", *COUNTS_SELDOM)
        if part == "attacks":
            return attacks.judge(faults, server)
        if part == "pictures":
            return pictures.judge(faults, server, serve("example", "--example", "--count-interval", "1"), PICTURES)
        if part == "large":
            return large.judge(faults, server)
        away = serve("away", DATABASE_URL="postgresql://127.0.0.1:1/nothing?connect_timeout=2")
        return story.judge(faults, server, away, SCREENSHOTS, seed)


def alone(part, seed):
    """Whether a part is as it should be."""
    faults = []
    try:
        judge(part, seed, faults)
    finally:
        for fault in faults:
            print(f"FAULT {fault}")
    return not faults


def run(part, seed):
    """Whether a part is as it should be, which has a process of its own, and what it printed."""
    command = [sys.executable, __file__, "--alone", part, "--seed", str(seed)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return ended.returncode == 0, ended.stdout


def main():
    parser = argparse.ArgumentParser(prog="script/test-web pages")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    parser.add_argument("parts", nargs="*", default=USUAL, metavar="PART", help=f"{', '.join(USUAL)} or large")
    arguments = parser.parse_args()
    if arguments.alone:
        return 0 if alone(arguments.alone, arguments.seed) else 1
    if others := set(arguments.parts) - {*USUAL, "large"}:
        parser.error(f"there is no part {' '.join(others)}")
    shutil.rmtree(PLACE, ignore_errors=True)
    for folder in (SCREENSHOTS, PICTURES):
        folder.mkdir(parents=True)
    is_right = True
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        ended = {executor.submit(run, part, arguments.seed): part for part in arguments.parts}
        for future in concurrent.futures.as_completed(ended):
            is_as_promised, printed = future.result()
            is_right = is_right and is_as_promised
            print(f"== {ended[future]}\n{printed}", flush=True)
    print(f"The pages are {'as promised' if is_right else 'NOT as promised'}. Screenshots: {SCREENSHOTS}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())

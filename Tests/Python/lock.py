#!/usr/bin/env python3
"""Writes requirements.txt from requirements.in, with a hash for each wheel that a machine of ours may install.

Run it with a Python 3.11.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# Those of Debian 12 and Ubuntu 24.04, the oldest first.
PYTHONS = "3.11.2", "3.12.3"
PROCESSORS = "x86_64", "aarch64"
# Of these only a file is used: axe.min.js, and the compiler of Kotlin. So what they need is left out.
OF_A_FILE = "axe-playwright-python", "kotlin-jupyter-kernel"


def wheels(python, processor, *arguments):
    """What pip would install there, by name and version, each with the hash of its wheel."""
    # Up to the glibc of Debian 12.
    platforms = [f"manylinux_2_{minor}_{processor}" for minor in range(36, 4, -1)] + [f"manylinux2014_{processor}"]
    made = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
        + ["--only-binary", ":all:", "--target", "nowhere", "--python-version", python]
        + [f"--platform={platform}" for platform in platforms] + [*arguments],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return {
        f"{one['metadata']['name'].lower()}=={one['metadata']['version']}": one["download_info"]["archive_info"]["hashes"]["sha256"]
        for one in json.loads(made.stdout)["install"]
    }


def main():
    lines = [line for line in (HERE / "requirements.in").read_text().splitlines() if not line.startswith("#")]
    files = [line for line in lines if line.startswith(OF_A_FILE)]
    names = sorted([*wheels(PYTHONS[0], PROCESSORS[0], *(line for line in lines if line not in files)), *files])
    hashes = {name: set() for name in names}
    for python in PYTHONS:
        for processor in PROCESSORS:
            for name, digest in wheels(python, processor, "--no-deps", *names).items():
                hashes[name].add(digest)
    with open(HERE / "requirements.txt", "w", encoding="utf-8") as file:
        for name in names:
            file.write(" \\\n    ".join([name, *(f"--hash=sha256:{digest}" for digest in sorted(hashes[name]))]) + "\n")


main()

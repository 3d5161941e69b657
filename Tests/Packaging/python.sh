#!/usr/bin/env bash
# Installs what requirements.txt names, unless it is there, and prints the folder of the programs.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly requirements=Tests/Packaging/requirements.txt place=$PWD/.build/test-packaging
if ! cmp --silent "$requirements" "$place/installed.txt"; then
    rm -rf -- "$place"
    python3 -m venv "$place/python"
    "$place/python/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
        --requirement "$requirements" >&2 ||
        { printf '%s: the Python packages cannot be installed; the lines above say why\n' "$0" >&2; exit 1; }
    cp "$requirements" "$place/installed.txt"
fi
printf '%s\n' "$place/python/bin"

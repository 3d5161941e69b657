#!/usr/bin/env bash
#   Clients/Java/test.sh [FOLDER]
#
# Compiles the library for Java 8 and runs its tests. With a folder, the classes are left there. Needs a JDK and, to read the
# scenarios, the org.json of Android: on Debian the packages default-jdk-headless and libandroid-json-org-java.

set -euo pipefail
folder=
if [ $# -gt 0 ]; then
    mkdir -p -- "$1"
    folder=$(cd -- "$1" && pwd)
fi
cd "$(dirname "$0")"

json=${VERSIONGATE_JSON_JAR:-/usr/share/java/json-android.jar}
[ -f "$json" ] || { echo "$json is missing: install libandroid-json-org-java, or set VERSIONGATE_JSON_JAR" >&2; exit 1; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# javac 20 and later calls the release 8 obsolete.
javac --release 8 -Xlint:all,-options -Werror -d "$out/annotations" annotations/org/jspecify/annotations/*.java
javac --release 8 -Xlint:all,-options -Werror -cp "$out/annotations" -d "$out/library" src/dev/versiongate/*.java
# The programs in the README and the sample compile.
mkdir "$out/readme"
awk -v folder="$out/readme" '/^```/ {file = /java/ ? folder "/Program" ++count ".java" : ""; next} file {print > file}' README.md
javac --release 8 -Xlint:all,-options -Werror -cp "$out/library" -d "$out/readme" "$out"/readme/*.java samples/*.java
javac --release 8 -Xlint:all,-options -Werror -cp "$out/library:$json" -d "$out/tests" test/dev/versiongate/*.java
java -cp "$out/library:$out/tests:$json" dev.versiongate.Tests ../scenarios
if [ -n "$folder" ]; then
    cp -R "$out/library/." "$out/tests/." "$folder"
fi

#!/usr/bin/env bash
#   Clients/Android/test.sh [FILE.aar]
#
# Compiles library and screens against Android 6 (API 23), with Java 8 and all warnings, and runs the tests of the screens on
# stand-ins of Android's classes. With a file, the artifact is left there. Needs a JDK, Python, aapt, zip, and the android.jar that
# script/bootstrap fetches, or another one in VERSIONGATE_ANDROID_JAR.

set -euo pipefail
[ $# -eq 0 ] || { mkdir -p -- "$(dirname -- "$1")"; aar=$(cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1"); }
cd "$(dirname "$0")"

jar=${VERSIONGATE_ANDROID_JAR:-../../.build/tools/android-23.jar}
[ -f "$jar" ] || { echo "$jar is missing: run script/bootstrap clients, or set VERSIONGATE_ANDROID_JAR" >&2; exit 1; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out"/{r,boot,annotations,java,classes,standins,tests,aar}

cp -R src/main/res "$out/aar"
python3 -B - "$out/aar/res" << 'END'
import os, sys
sys.path.insert(0, "..")
import strings
for path, content in strings.android(*strings.table()).items():
    file = os.path.join(sys.argv[1], path)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w", encoding="utf-8") as output:
        output.write(content)
END
aapt package -f -m -J "$out/r" --non-constant-id --output-text-symbols "$out/aar" -M src/main/AndroidManifest.xml -S "$out/aar/res" -I "$jar"
mapfile -t compile < <(find compile -name '*.java')
mapfile -t screens < <(find src/main/java "$out/r" -name '*.java')
mapfile -t tests < <(find test/standins test/dev compile/android -name '*.java')

# The classes of Java are those of Android too, so nothing is used that it lacks.
javac -source 8 -target 8 -Xlint:-options -bootclasspath "$jar" -d "$out/boot" "${compile[@]}"
javac=(javac -source 8 -target 8 '-Xlint:all,-options' -Werror -bootclasspath "$out/boot:$jar")
"${javac[@]}" -d "$out/annotations" ../Java/annotations/org/jspecify/annotations/*.java
"${javac[@]}" -cp "$out/annotations" -d "$out/java" ../Java/src/dev/versiongate/*.java
"${javac[@]}" -cp "$out/annotations:$out/java" -d "$out/classes" "${screens[@]}"

# members.txt has what is used of Android, behind the API level since which it is there.
find "$out/classes" -name '*.class' ! -name 'R*.class' -exec javap -p -c {} + > "$out/code"
sed -nE 's/.*\/\/ (Interface)?(Method|Field) "?(android[^ ]*).*/\3/p' "$out/code" | sort -u | diff <(sed 's/^[0-9]* //' members.txt) - ||
    { echo "members.txt differs: enter each line with >, and since which API level it is there" >&2; exit 1; }
! grep -vE '^([1-9]|1[0-9]|2[01]) |^33 android/window/' members.txt || { echo "that is newer than API 21" >&2; exit 1; }

# The tests link the classes that were compiled against Android with the stand-ins.
javac --release 8 -Xlint:-options -cp "$out/annotations:$out/java:$out/classes" -d "$out/tests" "${tests[@]}"
java -Duser.language=en -Duser.country=US -cp "$out/tests:$out/java:$out/classes:$out/annotations" dev.versiongate.android.AndroidTests

# The programs of the README and the sample, with as much of Play as they use.
if [ -n "${VERSIONGATE_KOTLIN_JAR:-}" ]; then
    {
        printf 'import %s\n' 'android.app.*' android.widget.Toast dev.versiongate.VersionGate 'dev.versiongate.android.*'
        awk '/^```/ {isKotlin = /kotlin/; next} isKotlin' README.md
        echo 'object BuildConfig { const val BUILD_TYPE = "debug" }'
    } > "$out/Readme.kt"
    java -cp "$VERSIONGATE_KOTLIN_JAR" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -Werror \
        -cp "$out/classes:$out/java:$jar:$VERSIONGATE_KOTLIN_JAR" -d "$out/readme" "$out/Readme.kt" samples test/play/Play.kt test/play/Model.kt
fi

if [ -n "${aar:-}" ]; then
    find "$out/classes" -name 'R.class' -delete -o -name 'R$*.class' -delete
    (cd "$out/classes" && zip -qrX "$out/aar/classes.jar" .)
    cp src/main/AndroidManifest.xml "$out/aar"
    rm -f -- "$aar"
    (cd "$out/aar" && zip -qrX "$aar" .)
    echo "$aar has $(stat -c %s "$aar") bytes"
fi

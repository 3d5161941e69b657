#!/usr/bin/env bash
#   Clients/Java/test-kotlin.sh COMPILER.jar
#
# Compiles what is for Kotlin and the sample, tries it, and tries that Kotlin refuses null where it is wrong.
# COMPILER.jar has the compiler and kotlinx.coroutines.

set -euo pipefail
compiler=$1
cd "$(dirname "$0")"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/annotations" "$out/java"
javac --release 8 -Xlint:-options -d "$out/annotations" annotations/org/jspecify/annotations/*.java
javac --release 8 -Xlint:-options -cp "$out/annotations" -d "$out/java" src/dev/versiongate/*.java

kotlinc() { java -cp "$compiler" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect "$@"; }

kotlinc -Werror -Xexplicit-api=strict -cp "$out/java:$compiler" -d "$out/kotlin" kotlin

kotlinc -Werror -cp "$out/java:$out/kotlin:$compiler" -d "$out/sample" samples

cat > "$out/Try.kt" << 'END'
import dev.versiongate.VersionGate
import dev.versiongate.messages
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

fun main() = runBlocking {
    val gate = VersionGate.preview("""{"messages":[{"id":"a","title":"A","text":"B","lockout":true}]}""")
    check(gate.messages() == listOf(VersionGate.Message("a", "A", "B", null, true, false)))
    check(gate.messages(force = true).single().link?.length == null)
    check(gate.messages(manual = true).single().lockout)
    val slow = VersionGate.Builder("https://gate.example.com", "com.example.doto", object : VersionGate.Storage {
        override fun read(): String? = null
        override fun write(text: String?) = Unit
    }).transport { _, _ -> Thread.sleep(60_000); error("") }.observer { }.build()
    var isOver = false
    val waiting = launch { slow.messages(); isOver = true }
    kotlinx.coroutines.yield()
    waiting.cancelAndJoin()
    check(!isOver)
}
END
kotlinc -Werror -cp "$out/java:$out/kotlin:$compiler" -d "$out/try" "$out/Try.kt"
java -cp "$out/try:$out/java:$out/kotlin:$compiler" TryKt

# Each line is wrong by itself.
wrong=(
    'fun f(m: VersionGate.Message) = m.link.length'
    'fun f(m: VersionGate.Message) = m.target.length'
    'fun f(m: VersionGate.Message) = m.opened().length'
    'fun f(r: VersionGate.Report) = r.fault.length'
    'fun f() = VersionGate.preview(null)'
    'fun f(s: VersionGate.Storage) = VersionGate.Builder("https://gate.example.com", null, s)'
    'class F : VersionGate.Storage { override fun read(): String? = null; override fun write(text: String) = Unit }'
)
for index in "${!wrong[@]}"; do
    printf 'package wrong%s\nimport dev.versiongate.VersionGate\n%s\n' "$index" "${wrong[index]}" > "$out/Wrong$index.kt"
done
kotlinc -cp "$out/java:$compiler" -d "$out/wrong" "$out"/Wrong*.kt 2> "$out/errors" || true
for index in "${!wrong[@]}"; do
    grep -q "Wrong$index.kt:3:.*error: .*null\|Wrong$index.kt:3:.*overrides nothing" "$out/errors" ||
        { echo "Kotlin takes: ${wrong[index]}" >&2; exit 1; }
done
echo "Kotlin: ${#wrong[@]} wrong lines are refused"

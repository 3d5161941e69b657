#!/bin/sh
# Builds an app that has this package as its only dependency, with the code of README.md, and sees to it that nothing
# else is resolved, built or linked.

set -eu
cd "$(dirname "$0")"
package=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "test-consumer.sh: $1" >&2
    exit 1
}

# The first block of Swift below a heading of the README.
code() {
    awk -v heading="## $1" '
        $0 == heading { below = 1 }
        below && /^```$/ { exit }
        below && inside { print }
        below && /^```swift$/ { inside = 1 }
    ' README.md
}

ln -s "$package" "$folder/VersionGateClient"
mkdir -p "$folder/App/Sources/App" "$folder/App/Sources/Use"
cd "$folder/App"
cat > Package.swift <<'END'
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(path: "../VersionGateClient")],
    targets: ["App", "Use"].map { name in
        .executableTarget(
            name: name,
            dependencies: [.product(name: "VersionGateClient", package: "VersionGateClient")]
        )
    }
)
END
cd "$package"
# This asks a server, so it is built and not run.
code "Use it" | grep -v "^for " > "$folder/App/Sources/Use/Gate.swift"
code "Use it" | grep "^for " > "$folder/App/Sources/Use/main.swift"
{
    echo "import Foundation"
    echo "import VersionGateClient"
    echo 'let server = URL(string: "https://gate.example.com")!'
    code "In tests of an app"
    echo 'guard await gate.check().first?.isLockout == true else { fatalError("no lockout") }'
    echo 'print("The app has run.")'
} > "$folder/App/Sources/App/main.swift"
{
    echo "import Foundation"
    echo "import VersionGateClient"
    code "Forget"
} > "$folder/App/Sources/App/GroupStorage.swift"
grep -q "await gate.check" "$folder/App/Sources/Use/main.swift" || fail "README.md has no code below 'Use it'"
grep -q "VersionGate.preview" "$folder/App/Sources/App/main.swift" || fail "README.md has no code below 'In tests of an app'"
grep -q "GroupStorage" "$folder/App/Sources/App/GroupStorage.swift" || fail "README.md has no code below 'Forget'"

cd "$folder/App"
swift build -Xswiftc -warnings-as-errors
answer='{"messages":[{"id":"a","title":"A","text":"B","lockout":true}]}'
GATE_PREVIEW=$answer swift run --skip-build App | grep -qx "The app has run." || fail "the app does not run"

# One dependency, which has none.
swift package show-dependencies --format flatlist > dependencies
[ "$(cat dependencies)" = "versiongateclient" ] || fail "these are resolved: $(cat dependencies)"
if [ -e Package.resolved ]; then
    grep -q '"identity"' Package.resolved && fail "these are pinned: $(cat Package.resolved)"
fi
[ -z "$(ls .build/checkouts 2>/dev/null)" ] || fail "these are checked out: $(ls .build/checkouts)"

# No module but those of the app and of the library.
modules=$(find .build/debug/Modules -maxdepth 1 -name "*.swiftmodule" -printf "%f\n" | sort | sed "s/\.swiftmodule$//" | tr "\n" " ")
[ "$modules" = "App Use VersionGateClient " ] || fail "these are built: $modules"
echo "The app needs VersionGateClient, and nothing else."

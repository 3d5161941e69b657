#!/usr/bin/env bash
# Makes a mirror of the last commit by script/swift-mirror, twice, and builds an app that depends on it by address and
# version.

set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "test-mirror.sh: $1" >&2
    exit 1
}

script/swift-mirror "$folder/versiongate-swift" > "$folder/made"
version=$(git -C "$folder/versiongate-swift" tag)
script/swift-mirror "$folder/versiongate-swift" > "$folder/again"
script/swift-mirror "$folder/other" > "$folder/made"
for mirror in versiongate-swift other; do
    [ "$(git -C "$folder/$mirror" rev-list --all --count)" = 1 ] || fail "the mirror made twice has several commits"
done
[ "$(git -C "$folder/other" rev-parse main)" = "$(git -C "$folder/versiongate-swift" rev-parse main)" ] ||
    fail "the same commit gives another mirror"

mkdir -p "$folder/App/Sources/App"
cd "$folder/App"
cat > Package.swift << END
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(url: "file://$folder/versiongate-swift", from: "$version")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [.product(name: "VersionGateClient", package: "versiongate-swift")]
        )
    ]
)
END
cat > Sources/App/main.swift << 'END'
import VersionGateClient

print("The app has \(VersionGate.self).")
END
swift build
[ "$(swift run --skip-build App)" = "The app has VersionGate." ] || fail "the app does not run"
grep -q "\"version\" : \"$version\"" Package.resolved || fail "this is resolved: $(cat Package.resolved)"
echo "An app depends on the mirror by its address and $version."

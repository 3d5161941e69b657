#!/bin/sh
# Compiles the samples for iOS with stand-ins of UIKit, runs what they do, and parses the code for Apple's systems in README.md.

set -eu
cd "$(dirname "$0")"
swift build --target VersionGateClient
built=$(swift build --show-bin-path)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

swiftc -swift-version 6 -package-name swift -enable-upcoming-feature InternalImportsByDefault -warnings-as-errors -parse-as-library \
    -emit-module -emit-library -module-name UIKit -o "$folder/libUIKit.so" -emit-module-path "$folder/UIKit.swiftmodule" \
    Tests/Samples/UIKit.swift
swiftc -swift-version 6 -package-name swift -warnings-as-errors -parse-as-library -module-name Samples -I "$folder" -I "$built/Modules" \
    -L "$folder" -lUIKit -Xlinker -rpath -Xlinker "$folder" -o "$folder/samples" \
    Samples/*.swift Tests/Samples/SampleTests.swift "$built"/VersionGateClient.build/*.o
"$folder/samples"

awk -v folder="$folder" '/^```/ {file = /swift/ ? folder "/Readme" ++count ".swift" : ""; next} file {print > file}' README.md
for file in "$folder"/Readme*.swift; do swiftc -swift-version 6 -parse "$file"; done

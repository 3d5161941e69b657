// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "VersionGateClient",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .`library`(name: "VersionGateClient", targets: ["VersionGateClient"])
    ],
    targets: [
        .target(name: "VersionGateClient", resources: [.copy("PrivacyInfo.xcprivacy")]),
        .executableTarget(name: "VersionGateExample", dependencies: ["VersionGateClient"]),

        // Reads scenarios and runs their steps: in the tests, and against a real server.
        .target(name: "ScenarioSupport", dependencies: ["VersionGateClient"], path: "Tests/ScenarioSupport"),
        .executableTarget(
            name: "ScenarioProgram", dependencies: ["ScenarioSupport", "VersionGateClient"],
            path: "Tests/ScenarioProgram"
        ),
        .testTarget(
            name: "VersionGateClientTests",
            dependencies: ["ScenarioProgram", "ScenarioSupport", "VersionGateClient"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Apple's systems have CryptoKit. On Linux the package depends on nothing unless lockouts that are signed must hold there.
if Context.environment["VERSIONGATE_CRYPTO"] != nil {
    package.dependencies += [.package(url: "https://github.com/apple/swift-crypto.git", from: "4.0.0")]
    for target in package.targets where target.name == "VersionGateClient" {
        target.dependencies += [.product(name: "Crypto", package: "swift-crypto")]
    }
}

for target in package.targets {
    target.swiftSettings = [
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}

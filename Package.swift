// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "versiongate",
    products: [
        .executable(name: "versiongate", targets: ["versiongate"])
    ],
    // Exact versions, so that a build holds what was tested. What these packages need in turn, they say with ranges.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system.git", exact: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess.git", exact: "1.0.2"),
    ],
    targets: [
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "Postgres",
            dependencies: [
                "CLibpq",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "PrivatePostgres",
            dependencies: [
                "Postgres",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .target(
            name: "UpdatePolicy",
            dependencies: [
                // For SHA256.swift.
                .product(name: "NIOSSL", package: "swift-nio-ssl")
            ]
        ),
        .target(
            name: "PolicyStore",
            dependencies: [
                "Postgres",
                "UpdatePolicy",
                .product(name: "Logging", package: "swift-log"),
            ],
            plugins: ["EmbedFilesPlugin"]
        ),
        // The documents that other update clients read, made from a policy: pure, a file a format.
        .target(name: "UpdateFeeds", dependencies: ["UpdatePolicy"]),
        // What is told to people and programs, as values; text and pages are made from them elsewhere.
        .target(name: "Reports", dependencies: ["PolicyStore", "UpdatePolicy"]),
        // The pages for people: HTML and SVG from the policy and its figures, without a listener of their own.
        .target(
            name: "PolicyPages",
            dependencies: [
                "PolicyStore", "Postgres", "Reports", "UpdatePolicy",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            exclude: ["Assets", "Templates"],
            plugins: ["EmbedFilesPlugin"]
        ),
        // Documents of an app's own: reads templates and renders them with the values that it is given.
        .target(name: "FeedTemplates", dependencies: ["UpdateFeeds", "UpdatePolicy"]),
        .target(name: "Systemd"),
        .target(
            name: "PolicyDocument",
            dependencies: [
                "UpdatePolicy",
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        // The way of a check: swift-nio, TLS, the policy and its documents, and nothing that could reach a database.
        .target(
            name: "CheckListener",
            dependencies: [
                "FeedTemplates",
                "UpdateFeeds",
                "UpdatePolicy",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]
        ),
        .target(
            name: "PolicyServer",
            dependencies: [
                "CheckListener",
                "PolicyPages",
                "PolicyStore",
                "Postgres",
                "Systemd",
                "UpdatePolicy",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            plugins: ["EmbedFilesPlugin"]
        ),
        .target(
            name: "VersionGateCommands",
            dependencies: [
                "FeedTemplates",
                "PolicyDocument",
                "PolicyServer",
                "PolicyStore",
                "Postgres",
                "PrivatePostgres",
                "Reports",
                "Systemd",
                "UpdateFeeds",
                "UpdatePolicy",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .executableTarget(name: "versiongate", dependencies: ["VersionGateCommands"]),

        .executableTarget(name: "EmbedFiles"),
        .plugin(
            name: "EmbedFilesPlugin", capability: .buildTool(), dependencies: ["EmbedFiles"], path: "Plugins/EmbedFiles"
        ),

        .executableTarget(name: "EngineBenchmark", dependencies: ["UpdatePolicy"], path: "Benchmarks/Engine"),
        .executableTarget(
            name: "ListenerBenchmark",
            dependencies: [
                "CheckListener", "UpdatePolicy",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Benchmarks/Listener",
            exclude: ["bursts.py", "hostile.py", "instructions.txt"]
        ),

        // What tests share: small targets, so that the tests of a pure module need no database.
        .target(name: "TestSystem", path: "Tests/TestSupport/System"),
        .target(name: "TestRandom", path: "Tests/TestSupport/Random"),
        .target(
            name: "TestPolicies", dependencies: ["TestRandom", "TestSystem", "UpdatePolicy"],
            path: "Tests/TestSupport/Policies"
        ),
        .target(
            name: "TestChecks", dependencies: ["CheckListener", "TestPolicies", "UpdatePolicy"],
            path: "Tests/TestSupport/Checks"
        ),
        // The libraries of other update clients, each as a program that reads a document as the library does.
        .target(name: "TestFeeds", path: "Tests/TestSupport/Feeds"),
        .target(
            name: "TestDatabase",
            dependencies: [
                "PolicyStore",
                "Postgres",
                "PrivatePostgres",
                "TestSystem",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            path: "Tests/TestSupport/Database"
        ),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["Postgres", "TestDatabase", "TestSystem", .product(name: "Logging", package: "swift-log")]
        ),
        .testTarget(
            name: "PrivatePostgresTests",
            dependencies: [
                "Postgres", "PrivatePostgres", "TestDatabase", "TestRandom", "TestSystem",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(name: "SystemdTests", dependencies: ["Systemd", "TestSystem"]),
        .testTarget(
            name: "UpdatePolicyTests",
            dependencies: ["TestPolicies", "TestRandom", "TestSystem", "UpdatePolicy"]
        ),
        .testTarget(
            name: "UpdateFeedsTests",
            dependencies: ["TestFeeds", "TestPolicies", "TestRandom", "TestSystem", "UpdateFeeds", "UpdatePolicy"]
        ),
        .testTarget(
            name: "FeedTemplatesTests",
            dependencies: ["FeedTemplates", "TestPolicies", "TestRandom", "TestSystem", "UpdateFeeds", "UpdatePolicy"]
        ),
        .testTarget(
            name: "PolicyStoreTests",
            dependencies: ["PolicyStore", "Postgres", "TestDatabase", "TestRandom", "TestSystem", "UpdatePolicy"]
        ),
        .testTarget(name: "ReportsTests", dependencies: ["PolicyStore", "Reports", "UpdatePolicy"]),
        .testTarget(
            name: "PolicyPagesTests",
            dependencies: [
                "PolicyPages", "PolicyStore", "Postgres", "Reports", "TestDatabase", "TestRandom", "TestSystem",
                "UpdatePolicy",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "PolicyDocumentTests",
            dependencies: [
                "PolicyDocument", "PolicyStore", "Postgres", "TestDatabase", "TestPolicies", "TestRandom",
                "UpdatePolicy",
            ]
        ),
        .testTarget(
            name: "EquivalenceTests",
            dependencies: [
                "PolicyStore", "Postgres", "TestDatabase", "TestPolicies", "TestRandom", "TestSystem", "UpdatePolicy",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ]
        ),
        .testTarget(
            name: "CheckListenerTests",
            dependencies: [
                "CheckListener", "TestChecks", "TestFeeds", "TestPolicies", "TestRandom", "TestSystem", "UpdateFeeds",
                "UpdatePolicy",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .testTarget(
            name: "PolicyServerTests",
            dependencies: [
                "CheckListener", "PolicyPages", "PolicyServer", "Systemd", "TestChecks", "TestDatabase",
                "TestPolicies", "TestRandom",
                "TestSystem", "UpdateFeeds",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        // Holds the manifest and the imports of each target to the modules that it may see.
        .testTarget(name: "PackageTests", dependencies: ["TestSystem"]),
        .testTarget(
            name: "VersionGateCommandsTests",
            dependencies: [
                "CheckListener", "PolicyDocument", "PolicyServer", "PolicyStore", "Postgres", "PrivatePostgres",
                "Reports",
                "TestDatabase", "TestFeeds", "TestPolicies", "TestRandom", "TestSystem", "UpdatePolicy",
                "VersionGateCommands",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// A build without the tests and benchmarks, whose folders need not be there: the image copies what the server is made of.
if Context.environment["VERSIONGATE_SERVER_ALONE"] != nil {
    package.targets.removeAll { target in
        target.type == .test || ["Benchmarks/", "Tests/"].contains { target.path?.hasPrefix($0) == true }
    }
}

// The fuzzing of script/fuzz, which no other build pays for: it counts which branches an input takes.
if Context.environment["VERSIONGATE_FUZZ"] != nil {
    for target in package.targets
    where ["CheckListener", "PolicyDocument", "PolicyServer", "UpdatePolicy"].contains(target.name) {
        target.swiftSettings = [.unsafeFlags(["-sanitize=fuzzer"])]
    }
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CLibFuzzer", "CheckListener", "PolicyDocument", "PolicyServer", "PolicyStore", "UpdatePolicy",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            path: "Tests/Fuzz/Fuzz"
        ),
    ]
}

for target in package.targets where target.type != .plugin && target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
            .enableUpcomingFeature("ExistentialAny"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
            .enableUpcomingFeature("MemberImportVisibility"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
            .enableUpcomingFeature("InternalImportsByDefault"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}

import Foundation
import TestSystem
import Testing

/// Which modules each target may see.
///
/// SwiftPM lets a target import any module that happens to be built, so the manifest alone does not hold a target to its
/// dependencies: the imports are read too. The modules of the toolchain are free, but for those that `UpdatePolicy` and
/// `CheckListener` must do without.
@Suite("Dependencies")
struct DependencyTests {
    private static let allowed: [String: Set<String>] = [
        "Postgres": ["CLibpq", "Logging"],
        "PrivatePostgres": ["Logging", "Postgres", "Subprocess", "SystemPackage"],
        "UpdatePolicy": ["CNIOBoringSSL", "NIOSSL"],
        "UpdateFeeds": ["UpdatePolicy"],
        "FeedTemplates": ["UpdateFeeds", "UpdatePolicy"],
        "PolicyStore": ["Logging", "Postgres", "UpdatePolicy"],
        "Reports": ["PolicyStore", "UpdatePolicy"],
        "PolicyPages": [
            "HTTPTypes", "Hummingbird", "Logging", "Mustache", "PolicyStore", "Postgres", "Reports", "UpdatePolicy",
        ],
        "Systemd": [],
        "PolicyDocument": ["CYaml", "UpdatePolicy", "Yams"],
        "CheckListener": [
            "CNIOBoringSSL", "FeedTemplates", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS", "UpdateFeeds",
            "UpdatePolicy",
        ],
        "PolicyServer": [
            "CheckListener", "HTTPTypes", "Hummingbird",
            "HummingbirdCore", "Logging", "NIOCore", "NIOPosix", "NIOSSL", "PolicyPages", "PolicyStore",
            "Postgres", "ServiceLifecycle", "Systemd", "SystemPackage", "UpdatePolicy",
        ],
        "VersionGateCommands": [
            "ArgumentParser", "FeedTemplates", "Logging", "NIOCore", "NIOHTTP1",
            "NIOPosix", "NIOSSL", "PolicyDocument", "PolicyServer", "PolicyStore", "Postgres",
            "PrivatePostgres", "Reports", "Systemd",
            "UpdateFeeds", "UpdatePolicy", "Yams",
        ],
        "versiongate": ["ArgumentParser", "VersionGateCommands"],
        "EmbedFiles": [],
    ]

    /// What of the toolchain the way of a check does without: files, processes and the weight of Foundation.
    private static let toolchain: Set<String> = [
        "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Swift", "Synchronization",
    ]
    private static let withoutFoundation: Set<String> = [
        "CheckListener", "FeedTemplates", "UpdateFeeds", "UpdatePolicy",
    ]

    private static let root = RepositoryFile.url("")

    @Test("The dependencies of targets are the modules that their files import", arguments: allowed.keys.sorted())
    func imports(target: String) throws {
        var allowed = Self.allowed[target, default: []].union(Self.toolchain)
        if Self.withoutFoundation.contains(target) { allowed.subtract(["Foundation", "FoundationEssentials"]) }
        let folder = Self.root.appending(path: "Sources/\(target)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        try #require(!files.isEmpty)
        for file in files {
            let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for line in source.split(separator: "\n") where line.contains("import ") {
                guard let module = Self.module(importedBy: line) else { continue }
                #expect(allowed.contains(module), "Sources/\(target)/\(file) imports \(module)")
            }
        }
    }

    @Test("The dependencies of targets are those that the manifest names", arguments: allowed.keys.sorted())
    func manifest(target: String) throws {
        let manifest = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        let dependencies = try #require(Self.dependencies(of: target, in: manifest), "no target \(target)")
        let allowed = Self.allowed[target, default: []]
        #expect(dependencies.isSubset(of: allowed), "\(target) may not depend on \(dependencies.subtracting(allowed))")
    }

    @Test("The dependencies of targets are told for each target there is")
    func targets() throws {
        let folder = Self.root.appending(path: "Sources")
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
            // A system library is a module map alone.
            !FileManager.default.fileExists(atPath: folder.appending(path: "\(name)/module.modulemap").path)
        }
        #expect(Set(folders) == Set(Self.allowed.keys))
    }

    @Test("The dependencies of what answers checks lead to no database, whatever they depend on in turn")
    func checkListener() {
        var reached: Set<String> = []
        var open = ["CheckListener"]
        while let target = open.popLast() {
            guard reached.insert(target).inserted else { continue }
            open += Self.allowed[target, default: []]
        }
        #expect(reached.isDisjoint(with: ["CLibpq", "Postgres", "PolicyStore", "PolicyServer", "Hummingbird"]))
        let own: Set = ["CheckListener", "FeedTemplates", "UpdateFeeds", "UpdatePolicy"]
        #expect(reached.intersection(Self.allowed.keys) == own)
    }

    @Test("The dependencies of targets are found in lines and in manifests")
    func reading() {
        #expect(Self.module(importedBy: "import NIOCore") == "NIOCore")
        #expect(Self.module(importedBy: "@testable public import struct Foundation.URL") == "Foundation")
        #expect(Self.module(importedBy: "    import Glibc") == "Glibc")
        #expect(Self.module(importedBy: "// import NIOCore") == nil)
        #expect(Self.module(importedBy: "/// The files that import it") == nil)
        let manifest = """
            .target(name: "A"),
            .target(
                name: "B",
                dependencies: ["A", .product(name: "C", package: "c")],
            ),
            .testTarget(name: "BTests", dependencies: ["B"]),
            """
        #expect(Self.dependencies(of: "A", in: manifest) == [])
        #expect(Self.dependencies(of: "B", in: manifest) == ["A", "C"])
        #expect(Self.dependencies(of: "C", in: manifest) == nil)
    }

    /// The module that a line imports; nil when it imports none.
    private static func module(importedBy line: Substring) -> String? {
        let pattern =
            #/^\s*(?:@\w+ )*(?:(?:public|package|internal|private) )?import (?:(?:struct|class|enum|func|var) )?(\w+)/#
        return line.prefixMatch(of: pattern).map { String($0.output.1) }
    }

    /// The targets and products that a manifest names as dependencies of a target; nil when it has no such target.
    private static func dependencies(of target: String, in manifest: String) -> Set<String>? {
        let start = #/\.(?:target|executableTarget)\(\s*name: "(?<name>\w+)"/#
        guard let declaration = manifest.matches(of: start).first(where: { $0.output.name == target[...] }) else {
            return nil
        }
        // The declaration ends with the parenthesis that closes it.
        var depth = 1
        let rest = manifest[declaration.range.upperBound...]
        let end = rest.firstIndex { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return depth == 0
        }
        let text = rest[..<(end ?? rest.endIndex)]
        guard let list = text.firstRange(of: "dependencies: [") else { return [] }
        let names = text[list.upperBound...].prefix { $0 != "]" }.matches(of: #/(?<label>\w+: )?"(?<name>[^"]+)"/#)
        return Set(names.filter { $0.output.label != "package: " }.map { String($0.output.name) })
    }
}

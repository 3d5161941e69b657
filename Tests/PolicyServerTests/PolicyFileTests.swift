// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("The file of the last good policy")
struct PolicyFileTests {
    static func policy(_ revision: Int64, _ titles: [String]) -> Policy {
        let awkward = "\"Quotes\" \\ 'n' \n\u{2028} / é 😀 \u{7f}"
        return Policy(
            revision: revision,
            token: "token-\(revision)",
            apps: titles.indices.map { number in
                App(
                    bundle: "com.example.app\(number)",
                    name: awkward,
                    paused: number == 1,
                    storeLinks: [StoreLink(platform: "ios", link: "https://example.com/\(number)")]
                )
            },
            releases: titles.indices.map { number in
                Release(
                    id: Int64(number),
                    bundle: "com.example.app\(number)",
                    platform: "ios",
                    version: "1.2",
                    build: "42",
                    minOS: "15",
                    regions: ["DE"],
                    liveAt: Timestamp(microsecondsSince1970: 1_772_366_400_000_001)
                )
            },
            rules: titles.enumerated().map { number, title in
                Rule(
                    key: "rule\(number)",
                    bundle: "com.example.app\(number)",
                    enabled: true,
                    versions: "<1.2",
                    attributes: [AttributeCondition(name: awkward, values: [awkward])],
                    target: "1.2",
                    rollout: Percentage(hundredths: 3725) ?? .all,
                    title: title,
                    text: awkward,
                    lockout: true,
                    texts: [RuleText(language: "de", title: awkward, text: awkward)],
                    steps: [
                        RolloutStep(at: Timestamp(microsecondsSince1970: 0), rollout: Percentage(hundredths: 1) ?? .all)
                    ]
                )
            } + [Rule(key: "everybody", enabled: true, title: "t", text: "x")]
        )
    }

    private func withFile<Result>(_ body: (PolicyFile) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.path + "/versiongate-file-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(PolicyFile(stateDirectory: folder + "/state"))
    }

    private func bytes(_ file: PolicyFile) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file.path)) }

    @Test("gives back what was written, and is none before that")
    func roundTrip() throws {
        try withFile { file in
            #expect(try file.read() == nil)
            let compiled = try CompiledPolicy(Self.policy(7, ["a", "b", "c"]))
            var writer = PolicyFileWriter(file)
            try writer.write(compiled)
            let read = try #require(try file.read())
            #expect(try CompiledPolicy(read).policy == compiled.policy)
        }
    }

    @Test("written over an earlier one holds the same bytes as one written anew")
    func copiesWhatStays() throws {
        try withFile { file in
            var writer = PolicyFileWriter(file)
            var compiled = try CompiledPolicy(Self.policy(1, ["a", "b", "c", "d"]))
            try writer.write(compiled)
            for (revision, change) in [(2, 1), (3, 3), (4, 0)] as [(Int64, Int)] {
                var part = Self.policy(revision, ["x", "y", "z", "w"])
                let bundle = "com.example.app\(change)"
                part.apps.removeAll { $0.bundle != bundle }
                part.releases.removeAll { $0.bundle != bundle }
                part.rules.removeAll { $0.bundle != bundle }
                compiled = try compiled.updated(
                    with: PolicyUpdate(bundles: [bundle], includesRulesForEveryApp: false, policy: part)
                )
                try writer.write(compiled)
                let updated = try bytes(file)
                var other = PolicyFileWriter(file)
                try other.write(compiled)
                #expect(try bytes(file) == updated)
                #expect(try file.read().map { try CompiledPolicy($0).policy } == compiled.policy)
            }
        }
    }

    @Test("is whole and of one revision where two servers write it in turn")
    func twoWriters() throws {
        try withFile { file in
            var writers = [PolicyFileWriter(file), PolicyFileWriter(file)]
            // The two begin with titles of different lengths, so that their lines are at different places.
            var policies = [
                try CompiledPolicy(Self.policy(1, ["a", "b", "c"])),
                try CompiledPolicy(Self.policy(1, ["a long title", "b", "c"])),
            ]
            for index in policies.indices { try writers[index].write(policies[index]) }
            for revision in 2...5 {
                for index in policies.indices {
                    var part = Self.policy(Int64(revision), ["x", "y", "z \(revision)"])
                    let bundle = "com.example.app2"
                    part.apps.removeAll { $0.bundle != bundle }
                    part.releases.removeAll { $0.bundle != bundle }
                    part.rules.removeAll { $0.bundle != bundle }
                    policies[index] = try policies[index].updated(
                        with: PolicyUpdate(bundles: [bundle], includesRulesForEveryApp: false, policy: part)
                    )
                    try writers[index].write(policies[index])
                    let read = try #require(try file.read())
                    #expect(try CompiledPolicy(read).policy == policies[index].policy)
                }
            }
        }
    }

    @Test("tells of any damage: every length that is too short, every byte that is another")
    func tellsOfDamage() throws {
        try withFile { file in
            var writer = PolicyFileWriter(file)
            try writer.write(try CompiledPolicy(Self.policy(7, ["a"])))
            let whole = try bytes(file)
            let url = URL(fileURLWithPath: file.path)
            for length in 0..<whole.count {
                try whole.prefix(length).write(to: url)
                #expect(throws: PolicyFileError.self) { try file.read() }
            }
            for place in whole.indices {
                var damaged = whole
                damaged[place] ^= 0x20
                try damaged.write(to: url)
                #expect(throws: PolicyFileError.self) { try file.read() }
            }
        }
    }

    @Test("keeps the earlier policy where the next cannot be written")
    func keepsTheEarlier() throws {
        try withFile { file in
            var writer = PolicyFileWriter(file)
            try writer.write(try CompiledPolicy(Self.policy(7, ["a"])))
            let before = try bytes(file)
            // A file in the place of the folder keeps the new one from being made.
            let folder = URL(fileURLWithPath: file.path).deletingLastPathComponent().path
            try FileManager.default.moveItem(atPath: folder, toPath: folder + ".aside")
            try Data().write(to: URL(fileURLWithPath: folder))
            let next = try CompiledPolicy(Self.policy(8, ["b"]))
            #expect(throws: PolicyFileError.self) { try writer.write(next) }
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.moveItem(atPath: folder + ".aside", toPath: folder)
            #expect(try bytes(file) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["last-good-policy"])
            try writer.write(next)
            #expect(try file.read()?.revision == 8)
        }
    }

    @Test("is whole whenever it is read while writers of the same process number write it")
    func writersAtOnce() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/versiongate-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = PolicyFile(stateDirectory: folder)
        let policies = try (1...4).map { try CompiledPolicy(Self.policy($0, ["a", "b \($0)", "c"])) }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for policy in policies {
                tasks.addTask {
                    var writer = PolicyFileWriter(file)
                    for _ in 1...30 {
                        try writer.write(policy)
                        let read = try #require(try file.read())
                        #expect(policies.map(\.policy).contains(try CompiledPolicy(read).policy))
                    }
                }
            }
            try await tasks.waitForAll()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["last-good-policy"])
    }

    @Test("is kept open for nothing but reading, so that its volume can be made read-only")
    func descriptorOnlyReads() throws {
        try withFile { file in
            var writer = PolicyFileWriter(file)
            try writer.write(try CompiledPolicy(Self.policy(7, ["a"])))
            let path = URL(fileURLWithPath: file.path).resolvingSymlinksInPath().path
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
            #expect(descriptors.count == 1)
            for descriptor in try descriptors.map({ try #require(Int32($0)) }) {
                #expect(fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDONLY)
            }
            try writer.write(try CompiledPolicy(Self.policy(8, ["b"])))
        }
    }

    @Test("has no leftovers of writers that were killed, but those of writers that may be at work")
    func leftovers() throws {
        try withFile { file in
            let folder = URL(fileURLWithPath: file.path).deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (name, age) in [("old.new", 3_700.0), ("young.new", 60), ("old.note", 3_700)] {
                let path = "\(file.path).\(name)"
                try Data().write(to: URL(fileURLWithPath: path))
                let date = Date(timeIntervalSinceNow: -age)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            }
            var writer = PolicyFileWriter(file)
            try writer.write(try CompiledPolicy(Self.policy(7, ["a"])))
            #expect(
                try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == [
                    "last-good-policy", "last-good-policy.young.new", "last-good-policy.old.note",
                ]
            )
        }
    }
}

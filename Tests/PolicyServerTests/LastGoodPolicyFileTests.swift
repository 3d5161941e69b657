import Foundation
import PolicyStore
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Last good policy file")
struct LastGoodPolicyFileTests {
    private let place = TestFolder()
    private var folder: String { place.path }
    private var file: LastGoodPolicyFile { LastGoodPolicyFile(stateDirectory: folder) }

    @Test("A file that every user may write is not read, and a folder that they may write is refused with what to do")
    func refusesWhatOthersMayWrite() throws {
        try file.requireProtectedFolder()
        #expect(try file.read() == nil)
        try write(7, file)
        #expect(try file.read()?.revision == 7)

        #expect(chmod(file.path, 0o606) == 0)
        let unread = #expect(throws: LastGoodPolicyFileError.self) { try file.read() }
        #expect(unread?.description.hasPrefix("\(file.path): every user of this machine may write it") == true)

        #expect(chmod(folder, 0o777) == 0)
        let refused = #expect(throws: ConfigurationError.self) { try file.requireProtectedFolder() }
        #expect(refused.map { "\($0)".contains("run chmod o-w \(folder), or name") } == true, "\(refused as Any)")
        #expect(chmod(folder, 0o775) == 0)
        try file.requireProtectedFolder()
    }

    static func policy(_ revision: Int64, _ titles: [String]) -> Policy {
        let awkward = "\"Quotes\" \\ 'n' \n\u{2028} / é 😀 \u{a0}"
        return Policy(
            revision: revision,
            token: "token-\(revision)",
            apps: titles.indices.map { number in
                App(bundle: "com.example.app\(number)", name: awkward) {
                    $0.paused = number == 1
                    $0.storeID = Int64(number) + 1
                    $0.seller = awkward
                    $0.storeLinks = [StoreLink(platform: "ios", link: "https://example.com/\(number)")]
                    $0.feedTemplates = [FeedTemplate(name: "v", contentType: "text/plain", body: awkward)]
                }
            },
            releases: titles.indices.map { number in
                Release(id: Int64(number), bundle: "com.example.app\(number)", platform: "ios", version: "1.2") {
                    $0.build = "42"
                    $0.minOS = "15"
                    $0.regions = ["DE"]
                    $0.liveAt = Timestamp(microsecondsSince1970: 1_772_366_400_000_001)
                    $0.notes = [ReleaseNote(language: "de", text: awkward), ReleaseNote(text: titles[number])]
                }
            },
            rules: titles.enumerated().map { number, title in
                Rule(key: "rule\(number)", title: title, text: awkward) {
                    $0.bundle = "com.example.app\(number)"
                    $0.enabled = true
                    $0.versions = "<1.2"
                    $0.attributes = [
                        AttributeCondition(name: awkward, values: [awkward]),
                        AttributeCondition(name: "not", .not([UTF8Text(awkward)])),
                        AttributeCondition(name: "range", .range("<45")),
                    ]
                    $0.target = "1.2"
                    $0.rollout = Percentage(hundredths: 3725) ?? .all
                    $0.lockout = true
                    $0.texts = [RuleText(language: "de", title: awkward, text: awkward)]
                    $0.steps = [
                        RolloutStep(at: Timestamp(microsecondsSince1970: 0), rollout: Percentage(hundredths: 1) ?? .all)
                    ]
                }
            } + [
                Rule(key: "everybody", title: "t", text: "x") {
                    $0.enabled = true
                }
            ]
        )
    }

    /// A policy whose app of a number is as in another.
    private static func updated(_ policy: CompiledPolicy, app: Int, _ other: Policy) throws -> CompiledPolicy {
        let bundle = "com.example.app\(app)"
        var part = other
        part.apps.removeAll { $0.bundle != bundle }
        part.releases.removeAll { $0.bundle != bundle }
        part.rules.removeAll { $0.bundle != bundle }
        return try policy.updated(with: PolicyUpdate(bundles: [bundle], includesRulesForEveryApp: false, policy: part))
    }

    private func bytes(_ file: LastGoodPolicyFile) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: file.path))
    }

    @Test("A file written over an earlier one holds the same bytes as one written anew")
    func copiesWhatStays() throws {
        #expect(file.occupant == .nothing)
        var writer = LastGoodPolicyFileWriter(file)
        var compiled = try CompiledPolicy(Self.policy(1, ["a", "b", "c", "d"]))
        try writer.write(compiled)
        for (revision, change) in [(2, 1), (3, 3), (4, 0)] as [(Int64, Int)] {
            compiled = try Self.updated(compiled, app: change, Self.policy(revision, ["x", "y", "z", "w"]))
            try writer.write(compiled)
            let updated = try bytes(file)
            var other = LastGoodPolicyFileWriter(file)
            try other.write(compiled)
            #expect(try bytes(file) == updated)
            #expect(try file.read().map { try CompiledPolicy($0).policy } == compiled.policy)
        }
    }

    @Test("A file of every format that there was is read as what it means, and written byte for byte in the newest one")
    func readsEveryFormat() throws {
        #expect(LastGoodPolicyFile.format == LastGoodPolicyVectors.formats.last)
        for format in LastGoodPolicyVectors.formats {
            let contents = try LastGoodPolicyVectors.contents(ofFormat: format)
            #expect(try file.policy(in: contents) == LastGoodPolicyVectors.policy, "format \(format)")
        }
        let newest = try LastGoodPolicyVectors.contents(ofFormat: LastGoodPolicyFile.format)
        let hints = try LastGoodPolicyVectors.contentsWithHints()
        #expect(try file.policy(in: hints) == LastGoodPolicyVectors.policyWithHints)
        for (policy, contents) in [
            (LastGoodPolicyVectors.policy, newest), (LastGoodPolicyVectors.policyWithHints, hints),
        ] {
            var writer = LastGoodPolicyFileWriter(file)
            try writer.write(try CompiledPolicy(policy))
            #expect(String(decoding: try bytes(file), as: UTF8.self) == String(decoding: contents, as: UTF8.self))
        }
    }

    /// A file with these lines and the right checksum.
    private static func file(_ lines: String) -> Data {
        let contents = Data(lines.utf8)
        let checksum = SHA256.hash(data: contents).hexadecimal
        return contents + Data("\(LastGoodPolicyFile.checksumName)\(checksum)\n".utf8)
    }

    private static let header = #"{"revision":7,"token":"t"}"#

    @Test(
        "A file of a later version is refused as such",
        arguments: [
            ("versiongate policy 3\n\(header)\n", "format 3"),
            ("versiongate policy 2\n\(header)\n{\"app\":{\"bundle\":\"a\",\"tier\":1}}\n", "tier"),
            ("versiongate policy 1\n{\"revision\":7,\"token\":\"t\",\"era\":1}\n", "era"),
        ]
    )
    func refusesLaterVersions(_ lines: String, _ reason: String) throws {
        let error = #expect(throws: LastGoodPolicyFileError.self) { try file.policy(in: Self.file(lines)) }
        #expect(error?.isOfLaterVersion == true)
        #expect(error?.description.contains(reason) == true)
    }

    @Test(
        "A pipe, a device or a folder in the place of the file is not waited for, and is set aside",
        arguments: ["pipe", "device", "folder"]
    )
    func toleratesWhatIsNoFile(kind: String) throws {
        _ = try place.make()
        switch kind {
        case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
        case "device": #expect(symlink("/dev/full", file.path) == 0)
        default: #expect(mkdir(file.path, 0o700) == 0)
        }
        #expect(file.occupant == .unknown)
        #expect(throws: LastGoodPolicyFileError.self) { try file.read() }
        try write(7, file)
        #expect(try file.read()?.revision == 7)
    }

    // MARK: What is kept

    private func write(_ revision: Int64, _ file: LastGoodPolicyFile) throws {
        var writer = LastGoodPolicyFileWriter(file)
        try writer.write(try CompiledPolicy(Self.policy(revision, ["a"])))
    }

    @Test("A file that is no policy is set aside before one is written, the last one only")
    func setsAsideOne() throws {
        try write(0, file)
        for text in ["versiongate policy 9x\n{}\n", "hello\n"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
            try write(7, file)
            #expect(try file.read()?.revision == 7)
            #expect(try String(contentsOfFile: file.path + ".damaged", encoding: .utf8) == text)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
    }

    @Test("A file tells of any damage: every length that is too short, every byte that is another")
    func tellsOfDamage() throws {
        try write(7, file)
        let whole = try bytes(file)
        let url = URL(fileURLWithPath: file.path)
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: url)
            #expect(throws: LastGoodPolicyFileError.self) { try file.read() }
        }
        for place in whole.indices {
            var damaged = whole
            damaged[place] ^= 0x20
            try damaged.write(to: url)
            #expect(throws: LastGoodPolicyFileError.self) { try file.read() }
        }
    }

    @Test("A file keeps the earlier policy where the next cannot be written")
    func keepsTheEarlier() throws {
        var writer = LastGoodPolicyFileWriter(file)
        try writer.write(try CompiledPolicy(Self.policy(7, ["a"])))
        let before = try bytes(file)
        // A file in the place of the folder keeps the new one from being made.
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".aside")
        try Data().write(to: URL(fileURLWithPath: folder))
        let next = try CompiledPolicy(Self.policy(8, ["b"]))
        #expect(throws: LastGoodPolicyFileError.self) { try writer.write(next) }
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: folder + ".aside", toPath: folder)
        #expect(try bytes(file) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["last-good-policy"])
        try writer.write(next)
        #expect(try file.read()?.revision == 8)
    }

    @Test("A file is whole whenever it is read while writers of the same process number write it")
    func writersAtOnce() async throws {
        let policies = try (1...4).map { try CompiledPolicy(Self.policy($0, ["a", "b \($0)", "c"])) }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for policy in policies {
                tasks.addTask {
                    var writer = LastGoodPolicyFileWriter(file)
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

    @Test("A file has no leftovers of writers that were killed, but those of writers that may be at work")
    func leftovers() throws {
        _ = try place.make()
        for (name, age) in [("old.new", 3_700.0), ("young.new", 60), ("old.note", 3_700)] {
            let path = "\(file.path).\(name)"
            try Data().write(to: URL(fileURLWithPath: path))
            let date = Date(timeIntervalSinceNow: -age)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        try write(7, file)
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == [
                "last-good-policy", "last-good-policy.young.new", "last-good-policy.old.note",
            ]
        )
    }
}

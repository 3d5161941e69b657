import TestPolicies
import Testing

@testable import UpdatePolicy

@Suite("Client kind")
struct ClientKindTests {
    private func kind(_ members: KeyValuePairs<String, String>, ofApp bundle: String = "App") throws -> ClientKind {
        var bytes = ByteWriter()
        try TestPolicy.client(members).writeKind(ofApp: bundle, to: &bytes)
        return bytes.withBytes { ClientKind(bytes: $0) }
    }

    @Test("A kind has the members that are counted, as the client wrote them, and the bundle as the policy spells it")
    func holdsWhatIsCounted() throws {
        let kind = try kind([
            "bundle": "com.example.DOTO", "version": "v1.10 (45)", "build": "042", "platform": "Android",
            "region": "zh-Hant-TW", "os": "17.0.1", "language": "zh", "install": "0aa0", "channel": "beta",
        ])
        #expect(
            kind
                == ClientKind(
                    bundle: "App", platform: "android", version: "v1.10 (45)", build: "042", region: "TW", os: "17.0.1"
                )
        )
        #expect(ClientKind(bytes: kind.bytes) == kind)
    }

    @Test("A kind has nothing for members that were not sent or cannot be read")
    func leavesOut() throws {
        for members: KeyValuePairs<String, String> in [
            [:], ["version": "", "build": "", "platform": "", "region": "", "os": ""],
            ["version": "newest", "build": "4 2", "platform": "my phone", "region": "English", "os": "Sequoia"],
            ["version": String(repeating: "1", count: 129), "platform": String(repeating: "a", count: 33)],
            ["platform": "pläne", "region": "us"], ["platform": "iphone  os"],
        ] as [KeyValuePairs<String, String>] {
            let kind = try kind(members)
            #expect(kind.build == nil && kind.platform == nil, "\(members)")
            let version = members.first { $0.key == "version" }?.value ?? ""
            #expect((kind.version == nil) == version.isEmpty, "\(members)")
            #expect(kind.region == nil && kind.os == nil, "\(members)")
        }
    }

    @Test(
        "A kind has a version that cannot be read as it was written, or a sign for one that is long or not in ASCII",
        arguments: [
            ("2.1.3.alpha.42", "2.1.3.alpha.42"), (" 5.1.4 [2195]\r\n", "5.1.4 [2195]"), (" ", "?"),
            ("\u{E9}", "\\u{e9}"),
            ("1.3.1\u{A0}", "1.3.1\\u{a0}"), ("\u{661}.\u{662}", "\\u{661}.\\u{662}"), ("1.2 (\u{E9})", "?"),
            ("1.\n2", "1.\\u{a}2"), (String(repeating: "x", count: 64), String(repeating: "x", count: 64)),
            (String(repeating: "x", count: 65), String(repeating: "x", count: 61) + "..."),
            (String(repeating: "1", count: 129), String(repeating: "1", count: 61) + "..."),
            (
                String(repeating: "\u{E9}", count: 11),
                String(String(repeating: "\\u{e9}", count: 11).prefix(60)) + "..."
            ),
        ]
    )
    func keepsUnreadableVersions(_ version: String, _ kept: String) throws {
        #expect(try kind(["version": version]).version == kept)
        #expect(try TestPolicy.client(["version": version]).hasUnreadableVersion)
        #expect(try TestPolicy.client(["version": kept]).hasUnreadableVersion)
    }

    @Test(
        "A kind names a platform as rules do",
        arguments: [
            ("iOS", "ios"), ("iPadOS", "ios"), ("iPhone OS", "ios"), ("iphoneos", "ios"), ("i", "i"),
            ("watch_os-2", "watch_os-2"), (String(repeating: "P", count: 32), String(repeating: "p", count: 32)),
        ]
    )
    func namesPlatforms(_ written: String, _ name: String) throws {
        #expect(try kind(["platform": written]).platform == name)
    }

    @Test("A kind has versions of every length that can be read, without the blanks around them")
    func cutsBlanks() throws {
        let longest = String(repeating: "1", count: 128)
        let longestBuild = String(repeating: "1", count: 32)
        let blanks = String(repeating: " \t", count: 3_000)
        let kind = try kind([
            "version": blanks + longest + blanks, "build": blanks + longestBuild, "os": blanks + "1 beta",
        ])
        #expect(kind.version == longest)
        #expect(kind.build == longestBuild)
        #expect(kind.os == "1 beta")
    }

    @Test("A kind has no build and no system of more than 32 bytes, which nobody has and anybody can make up")
    func boundsNumbers() throws {
        let kind = try kind([
            "version": "1", "build": String(repeating: "1", count: 33), "os": "1.\(UInt64.max).\(UInt64.max)",
        ])
        #expect(kind.version == "1")
        #expect(kind.build == nil && kind.os == nil)
    }

    @Test("A kind becomes a coarse one, of its platform and a release alone, in the same room")
    func coarse() throws {
        var bytes = ByteWriter()
        let client = try TestPolicy.client([
            "version": "v01.20.0", "build": "7", "platform": "iPadOS", "region": "DE", "os": "17",
        ])
        client.writeKind(ofApp: "App", to: &bytes)
        for version in ["1.20", String(repeating: "1", count: 128)] {
            Client.writeCoarseKind(ofVersion: version, to: &bytes)
            #expect(
                bytes.withBytes { ClientKind(bytes: $0) }
                    == ClientKind(bundle: "App", platform: "ios", version: version))
        }
    }

    @Test("A kind has the version of a release whatever its spelling, on its platform alone")
    func releaseVersions() throws {
        let policy = try CompiledPolicy(
            Policy(
                revision: 1,
                token: "t",
                apps: [App(bundle: "a"), App(bundle: "b")],
                releases: [
                    Release(id: 1, bundle: "a", platform: "ios", version: "1.20"),
                    Release(id: 2, bundle: "a", platform: "ios", version: "2.0") { $0.staged = true },
                    Release(id: 3, bundle: "b", platform: "ios", version: "3.0"),
                ]
            )
        )
        for (members, version) in [
            (["bundle": "A", "platform": "iPadOS", "version": "01.20.0"], "1.20"),
            (["bundle": "a", "platform": "ios", "version": "2"], "2.0"),
            (["bundle": "a", "platform": "android", "version": "1.20"], nil),
            (["bundle": "a", "version": "1.20"], nil),
            (["bundle": "a", "platform": "ios"], nil), (["bundle": "a", "platform": "ios", "version": "3.0"], nil),
            (["bundle": "c", "platform": "ios", "version": "3.0"], nil),
        ] as [(KeyValuePairs<String, String>, String?)] {
            #expect(policy.releaseVersion(of: try TestPolicy.client(members)) == version, "\(members)")
        }
    }

    @Test("A kind is written into room that is there, however long the bundle is")
    func growsItsRoom() throws {
        var bytes = ByteWriter()
        let client = try TestPolicy.client(["version": "1.2"])
        for bundle in [String(repeating: "b", count: 2_000), "", "short"] {
            client.writeKind(ofApp: bundle, to: &bytes)
            let kind = bytes.withBytes { ClientKind(bytes: $0) }
            #expect(kind.bundle == bundle)
            #expect(kind.version == "1.2")
            #expect(kind.os == nil)
        }
    }

    @Test("A kind is the same for clients that differ in other members alone")
    func ignoresTheRest() throws {
        let first = try kind(["version": "1.2", "install": "a", "language": "de", "channel": "beta"])
        let second = try kind(["install": "b", "device": "x", "version": " 1.2"])
        #expect(first == second)
        #expect(try kind(["version": "1.2.0"]) != first)
        #expect(try kind(["build": "1.2"]) != first)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdatePolicy

@Suite("The kind of a client")
struct ClientKindTests {
    private func kind(_ members: KeyValuePairs<String, String>, ofApp bundle: String = "App") throws -> ClientKind {
        var bytes: [UInt8] = []
        let length = try TestPolicy.client(members).writeKind(ofApp: bundle, into: &bytes)
        return ClientKind(bytes: bytes[..<length])
    }

    @Test("has the members that are counted, as the client wrote them, and the bundle as the policy spells it")
    func holdsWhatIsCounted() throws {
        let kind = try kind([
            "bundle": "com.example.DOTO", "version": "v1.10 (45)", "build": "042", "platform": "Android",
            "region": "zh-Hant-TW", "os": "17.0.1", "language": "zh", "install": "0aa0", "channel": "beta",
        ])
        #expect(kind.bundle == "App")
        #expect(kind.version == "v1.10 (45)")
        #expect(kind.build == "042")
        #expect(kind.platform == "android")
        #expect(kind.region == "TW")
        #expect(kind.os == "17.0.1")
    }

    @Test("has nothing for members that were not sent or cannot be read")
    func leavesOut() throws {
        for members: KeyValuePairs<String, String> in [
            [:], ["version": "", "build": "", "platform": "", "region": "", "os": ""],
            ["version": "newest", "build": "4 2", "platform": "my phone", "region": "English", "os": "Sequoia"],
            ["version": String(repeating: "1", count: 129), "platform": String(repeating: "a", count: 33)],
            ["platform": "pläne", "region": "us"], ["platform": "iphone  os"],
        ] as [KeyValuePairs<String, String>] {
            let kind = try kind(members)
            #expect(kind.version == nil && kind.build == nil && kind.platform == nil, "\(members)")
            #expect(kind.region == nil && kind.os == nil, "\(members)")
        }
    }

    @Test(
        "names a platform as rules do",
        arguments: [
            ("iOS", "ios"), ("iPadOS", "ios"), ("iPhone OS", "ios"), ("iphoneos", "ios"), ("i", "i"),
            ("watch_os-2", "watch_os-2"), (String(repeating: "P", count: 32), String(repeating: "p", count: 32)),
        ]
    )
    func namesPlatforms(_ written: String, _ name: String) throws {
        #expect(try kind(["platform": written]).platform == name)
    }

    @Test("has versions of every length that can be read, without the blanks around them")
    func cutsBlanks() throws {
        let longest = String(repeating: "1", count: 128)
        let blanks = String(repeating: " \t", count: 3_000)
        let kind = try kind(["version": blanks + longest + blanks, "build": longest, "os": blanks + "1 beta"])
        #expect(kind.version == longest)
        #expect(kind.build == longest)
        #expect(kind.os == "1 beta")
    }

    @Test("is written into room that is there, however long the bundle is")
    func growsItsRoom() throws {
        var bytes = [UInt8](repeating: 0xFF, count: 16)
        let client = try TestPolicy.client(["version": "1.2"])
        for bundle in [String(repeating: "b", count: 2_000), "", "short"] {
            let length = client.writeKind(ofApp: bundle, into: &bytes)
            let kind = ClientKind(bytes: bytes[..<length])
            #expect(kind.bundle == bundle)
            #expect(kind.version == "1.2")
            #expect(kind.os == nil)
        }
    }

    @Test("is the same for clients that differ in other members alone")
    func ignoresTheRest() throws {
        let first = try kind(["version": "1.2", "install": "a", "language": "de", "channel": "beta"])
        let second = try kind(["install": "b", "device": "x", "version": " 1.2"])
        #expect(first == second)
        #expect(try kind(["version": "1.2.0"]) != first)
        #expect(try kind(["build": "1.2"]) != first)
    }
}

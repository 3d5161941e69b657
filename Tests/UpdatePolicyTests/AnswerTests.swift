import Foundation
import TestPolicies
import Testing
import UpdatePolicy

@Suite("Answer bytes")
struct AnswerTests {
    private func answer(_ policy: CompiledPolicy, _ client: Client, _ shape: AnswerShape) -> (String, Answer) {
        let answer = policy.answer(to: client, at: TestPolicy.noon, shape: shape)
        return (String(decoding: answer.body, as: UTF8.self), answer)
    }

    @Test("No match is an empty list, or an empty object in the shape of 2013")
    func empty() throws {
        let policy = try TestPolicy.policy([TestPolicy.rule("r") { $0.enabled = false }])
        #expect(answer(policy, try TestPolicy.client(), .standard).0 == #"{"messages":[]}"#)
        #expect(answer(policy, try TestPolicy.client(), .legacy).0 == "{}")
        #expect(answer(policy, try TestPolicy.client(["bundle": "x"]), .standard).1.bundle == nil)
        let otherCase = try TestPolicy.client(["bundle": "COM.example.doto"])
        #expect(answer(policy, otherCase, .standard).1.bundle == "com.example.doto")
    }

    @Test("Members come in the order of the contract, and links only where there are any")
    func members() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("a") {
                $0.link = "https://example.com/a?b=c&d=\"e\""
                $0.lockout = true
                $0.lockoutWithoutUpdate = true
            },
            TestPolicy.rule("b") { $0.text = "{app}" },
        ])
        let client = try TestPolicy.client()
        let (standard, summary) = answer(policy, client, .standard)
        let first =
            #"{"id":"a","title":"a","text":"a","link":"https://example.com/a?b=c&d=\"e\"","lockout":true}"#
        #expect(standard == #"{"messages":[\#(first),{"id":"b","title":"b","text":"Doto"}]}"#)
        #expect(summary.messages == 2)
        #expect(summary.lockouts == 1)
        let (legacy, _) = answer(policy, client, .legacy)
        #expect(legacy == standard.replacingOccurrences(of: #""text":"#, with: #""message":"#))
    }

    @Test("A lockout says when it ends, in whole seconds rounded up, and nothing else does")
    func lockoutEnds() throws {
        let ends: [(String, Bool, Int64?)] = [
            ("a", true, 200_000), ("b", true, 1_000_000), ("c", true, nil), ("d", false, 200_000),
        ]
        let policy = try TestPolicy.policy(
            ends.map { key, lockout, end in
                TestPolicy.rule(key) {
                    ($0.lockout, $0.lockoutWithoutUpdate) = (lockout, lockout)
                    $0.endsAt = end.map { Timestamp(microsecondsSince1970: 1_796_148_000_000_000 + $0) }
                }
            }
        )
        let until = #","lockout":true,"until":1796148001"#
        let messages = zip(["a", "b", "c", "d"], [until, until, #","lockout":true"#, ""]).map { key, members in
            #"{"id":"\#(key)","title":"\#(key)","text":"\#(key)"\#(members)}"#
        }
        let standard = answer(policy, try TestPolicy.client(), .standard).0
        #expect(standard == #"{"messages":[\#(messages.joined(separator: ","))]}"#)
        let legacy = answer(policy, try TestPolicy.client(), .legacy).0
        #expect(legacy == standard.replacingOccurrences(of: #""text":"#, with: #""message":"#))
        let sent = policy.messages(for: try TestPolicy.client(), at: TestPolicy.noon)
        #expect(sent.map(\.until) == [1_796_148_001, 1_796_148_001, nil, nil])
    }

    @Test("Hints come behind the link in the order of the contract, and neither in lockouts nor in the shape of 2013")
    func hints() throws {
        let rules = [
            TestPolicy.rule("a") {
                ($0.target, $0.link) = ("1.2", "store")
                ($0.remind, $0.shows, $0.skippable) = (DayTimeInterval("1 day"), 3, true)
            },
            TestPolicy.rule("b") { ($0.skippable, $0.text, $0.link) = (true, "{app}", "https://example.com/") },
            TestPolicy.rule("c") { ($0.versions, $0.target, $0.lockout, $0.shows) = ("<1.1", "1.2", true, 1) },
            TestPolicy.rule("d") { $0.target = "1.2" },
        ]
        let app = App(bundle: TestPolicy.bundle, name: "Doto") {
            $0.storeLinks = [StoreLink(platform: "ios", link: "https://example.com/ios")]
        }
        let policy = try CompiledPolicy(
            Policy(revision: 1, token: "", apps: [app], releases: [TestPolicy.release("1.2")], rules: rules)
        )
        let a = #"{"id":"a","title":"a","text":"a","link":"https://example.com/ios""#
        let b = #"{"id":"b","title":"b","text":"Doto","link":"https://example.com/""#
        let d = #"{"id":"d","title":"d","text":"d"}"#
        let hints = (#","remind":86400,"shows":3,"skip":true,"target":"1.2""#, #","skip":true"#)
        func messages(_ list: String...) -> String { #"{"messages":[\#(list.joined(separator: ","))]}"# }
        let locked = #"{"id":"c","title":"c","text":"c","lockout":true}"#
        let below = try TestPolicy.client(["version": "1.0", "platform": "ios"])
        #expect(answer(policy, below, .standard).0 == messages(a + hints.0 + "}", b + hints.1 + "}", locked, d))
        #expect(
            answer(policy, below, .legacy).0
                == messages(a + "}", b + "}", locked, d).replacingOccurrences(of: #""text":"#, with: #""message":"#)
        )
        // Without a way out there is no lockout, and so there are the hints.
        var old = policy.policy
        old.releases[0].minOS = "15"
        let unknown = answer(try CompiledPolicy(old), below, .standard).0
        #expect(unknown.contains(#"{"id":"c","title":"c","text":"c","shows":1,"target":"1.2"}"#), "\(unknown)")
    }

    @Test("Only what JSON requires is escaped, and every text comes back as it was")
    func escapes() throws {
        let text = "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \"\\/<>&'\u{7f}\u{2028}é😀日本{app}"
        var every = TestPolicy.rule("every") { $0.text = text }
        every.bundle = nil
        let policy = try TestPolicy.policy([every, TestPolicy.rule("own") { $0.text = text }])
        let (json, _) = answer(policy, try TestPolicy.client(), .standard)
        #expect(json.contains(#"\u0000\u0001\b\t\n\u000b\f\r\u001f \"\\/<>&'"#))
        struct Document: Decodable {
            struct Message: Decodable {
                let id: String
                let text: String
            }
            let messages: [Message]
        }
        let decoded = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
        let expected = text.replacingOccurrences(of: "{app}", with: "Doto")
        #expect(decoded.messages.map(\.id) == ["every", "own"])
        #expect(decoded.messages.allSatisfy { UTF8Text($0.text) == UTF8Text(expected) })
    }
}

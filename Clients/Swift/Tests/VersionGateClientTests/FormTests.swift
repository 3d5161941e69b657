import Testing
import VersionGateClient

/// Other forms of a gate and of a check.
@Suite("Forms")
struct FormTests {
    private static let blocked = #"{"messages":[{"id":"blocked","title":"T","text":"T","lockout":true}]}"#

    @Test("A check with a completion gives the same messages as one with await, on the main actor")
    func completion() async throws {
        let gate = try VersionGate.preview(Self.blocked)
        let given = await withCheckedContinuation { continuation in
            gate.check { messages in
                MainActor.assertIsolated()
                continuation.resume(returning: messages)
            }
        }
        #expect(given == [Message(id: "blocked", title: "T", text: "T", isLockout: true)])
        #expect(await gate.check(force: true) == given)
    }

    @Test(
        "A preview that cannot be right is refused in words",
        arguments: [
            ("{", "the preview is no answer: the answer is no JSON; give {"),
            ("[]", "the preview is no answer: the answer has no list of messages; give {"),
            (#"{"messages":[{"id":1}]}"#, "message 1 of the preview cannot be read; give {"),
        ]
    )
    func refusedPreview(answer: String, words: String) throws {
        let error = #expect(throws: VersionGate.ConfigurationError.self) { try VersionGate.preview(answer) }
        #expect(error?.description.hasPrefix(words) == true)
    }
}

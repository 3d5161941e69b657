import Foundation
import NIOCore
import TestPolicies
import TestSystem
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Clients that close their side", .timeLimit(.minutes(10)))
struct HalfCloseTests {
    /// An answer of about 16 kB for each message.
    private static func policy(messages: Int) throws -> CurrentPolicy {
        CurrentPolicy(
            try TestPolicy.policy(
                (0..<messages).map { number in
                    TestPolicy.rule("rule-\(number)") { $0.text = String(repeating: "€", count: 3_900) }
                }
            )
        )
    }

    private static let requests = [
        "GET /v1/check?bundle=com.example.doto HTTP/1.1\r\nHost: a\r\n\r\n",
        // No usual one.
        "GET http://a/v1/check?bundle=com.example.doto HTTP/1.1\r\nHost: a\r\n\r\n",
    ]

    /// Expects all answers of a client that sends all at once, closes its side, and reads only when the server has seen
    /// that.
    private static func expectAnswers(_ count: Int, to bytes: String, messages: Int) async throws {
        try await ObservedListener.run(policy: policy(messages: messages)) { listener in
            let client = try BlockingClient(listener.address, isSlow: true)
            client.send(Array(bytes.utf8))
            client.endOutput()
            try await Poll.until("the end of the client's side") {
                try await listener.look { $0.isInputClosed } == true
            }
            var answers = ByteBuffer(bytes: try client.read(inPiecesOf: 1_000))
            for _ in 0..<count {
                let response = HTTPResponse(takenFrom: &answers)
                #expect(response?.status == 200 && response?.body.hasSuffix("}]}") == true)
            }
            #expect(answers.readableBytes == 0)
        }
    }

    @Test(
        "They get every answer whole, however large it is and however late they read, and then the end",
        arguments: [1, 4, 9], requests
    )
    func getsAll(messages: Int, request: String) async throws {
        for count in [1, 3, 36] {
            try await Self.expectAnswers(count, to: String(repeating: request, count: count), messages: messages)
        }
        let last = request.replacingOccurrences(of: "\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
        try await Self.expectAnswers(2, to: request + last, messages: messages)
    }
}

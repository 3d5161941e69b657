import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Heads of responses")
struct ResponseWriterTests {
    private static let now = Timestamp(microsecondsSince1970: 1_772_366_400_000_000)

    /// A response with the fields that its head has, in order, beside those of every response.
    struct Head: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: [String]
        var connection = ConnectionHeader.implied
        let response: @Sendable () -> Response
    }

    static let heads = [
        Head(
            testDescription: "200 Check",
            fields: [
                "Content-Type: application/json", "Cache-Control: no-store", "Policy-Revision: 7", "Content-Length: 15",
            ]
        ) { .check(revision: 7) },
        Head(
            testDescription: "200 Check without a policy, the last one",
            fields: [
                "Content-Type: application/json", "Cache-Control: no-store", "Content-Length: 15", "Connection: close",
            ],
            connection: .close
        ) { .check(revision: nil) },
        Head(
            testDescription: "405 Problem",
            fields: [
                "Content-Type: application/problem+json", "Cache-Control: no-store", "Allow: POST",
                "Content-Length: 79", "Connection: keep-alive",
            ],
            connection: .keepAlive
        ) { .problem(RequestFault(.methodNotAllowed, "No.", header: ("Allow", "POST"))) },
        Head(
            testDescription: "503 What is sent in place of a problem",
            fields: ["Content-Type: text/xml", "Cache-Control: no-store", "Content-Length: 2"]
        ) { .problem(RequestFault(.unavailable, "No.", document: ("text/xml", [60, 62]))) },
        Head(
            testDescription: "204 Nothing",
            fields: ["Cache-Control: no-store", "Policy-Revision: 7"]
        ) { .other(ResponseHead(status: .noContent, revision: 7), .none) },
    ]

    /// What a writer writes; the body of a check is an empty answer.
    private static func written(
        _ response: Response,
        _ connection: ConnectionHeader,
        method: RequestKind.Method = .post,
        at now: Timestamp = now,
        by writer: inout ResponseWriter
    ) -> (head: [String], body: String) {
        var answer = ByteWriter()
        answer.append(#"{"messages":[]}"#)
        var output = ByteWriter()
        let request = RequestLabel(route: .check, method: method)
        writer.write(response, answer: answer, connection: connection, to: request, now: now, to: &output)
        let text = output.withBytes { String(decoding: $0, as: UTF8.self) }
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0].split(separator: "\r\n").map(String.init), parts.count > 1 ? String(parts[1]) : "")
    }

    @Test("Every head has its status, its fields and the date, and the body is as long as it says", arguments: heads)
    func hasFields(_ expected: Head) throws {
        var writer = ResponseWriter()
        for _ in 1...2 {
            let (head, body) = Self.written(expected.response(), expected.connection, by: &writer)
            let (status, fields) = (try #require(head.first), head.dropFirst())
            #expect(status.hasPrefix("HTTP/1.1 \(expected.testDescription.prefix(3)) "))
            #expect(fields.filter { !$0.hasPrefix("Date: ") } == expected.fields)
            #expect(fields.filter { $0.hasPrefix("Date: ") } == ["Date: Sun, 01 Mar 2026 12:00:00 GMT"])
            let length = fields.first { $0.hasPrefix("Content-Length: ") }?.dropFirst(16)
            #expect(length ?? "0" == "\(body.utf8.count)")
            let omitted = Self.written(expected.response(), expected.connection, method: .head, by: &writer)
            #expect(omitted.head == head)
            #expect(omitted.body.isEmpty)
        }
    }

    @Test("The usual head is written anew when the second or the policy is another")
    func followsTheClock() {
        var writer = ResponseWriter()
        for (second, revision) in [(0, Int64(7)), (0, 8), (1, 8), (0, 7)] {
            let now = Timestamp(microsecondsSince1970: Self.now.microsecondsSince1970 + Int64(second) * 1_000_000)
            let (head, _) = Self.written(.check(revision: revision), .implied, at: now, by: &writer)
            #expect(head.contains("Date: Sun, 01 Mar 2026 12:00:0\(second) GMT"))
            #expect(head.contains("Policy-Revision: \(revision)"))
        }
    }
}

import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestPolicies
import TestSystem
import Testing
import UpdatePolicy

@testable import CheckListener

/// A listener of one event loop with little room in the kernel, whose connection the test can look at.
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
        // The parser reads it.
        "GET http://a/v1/check?bundle=com.example.doto HTTP/1.1\r\nHost: a\r\n\r\n",
    ]

    /// What a client gets that sends all at once, closes its side, and reads only when the server has seen that.
    private static func answers(to bytes: String, messages: Int, isSlow: Bool) async throws -> [UInt8] {
        let policy = try policy(messages: messages)
        let handler = NIOLockedValueBox<NIOLoopBound<ConnectionHandler>?>(nil)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .serverChannelOption(.socketOption(.so_sndbuf), value: 4_096)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let context = EventLoopContext(
                        testing: channel.eventLoop, policy: policy, limits: ListenerFixture.limits
                    )
                    let connection = ConnectionHandler(loop: context, limitedClient: nil, isEncrypted: false)
                    handler.withLockedValue { $0 = NIOLoopBound(connection, eventLoop: channel.eventLoop) }
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client = try BlockingClient(try #require(channel.localAddress), isSlow: isSlow)
        client.send(Array(bytes.utf8))
        client.endOutput()
        try await Poll.until("the end of the client's side") {
            try await channel.eventLoop.submit {
                handler.withLockedValue { $0?.value.state.isInputClosed == true }
            }.get()
        }
        let answers = try client.read(inPiecesOf: 1_000)
        try await channel.close()
        return answers
    }

    @Test(
        "They get every answer whole, however large it is and however late they read, and then the end",
        arguments: [1, 4, 9], requests
    )
    func getsAll(messages: Int, request: String) async throws {
        for count in [1, 3, 36] {
            let answers = try await Self.answers(
                to: String(repeating: request, count: count), messages: messages, isSlow: true
            )
            let texts = String(decoding: answers, as: UTF8.self).components(separatedBy: "HTTP/1.1 200 OK\r\n")
                .dropFirst()
            #expect(texts.count == count)
            for text in texts {
                let response = try #require(RawConnection.Response("HTTP/1.1 200 OK\r\n" + text))
                #expect(response.headers["content-length"] == "\(response.body.utf8.count)")
                #expect(response.body.hasSuffix("}]}"))
            }
        }
    }

    @Test("They get the last answer whole where the request says that it is the last", arguments: requests)
    func getsTheLast(request: String) async throws {
        let last = request.replacingOccurrences(of: "\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
        let answers = try await Self.answers(to: request + last, messages: 9, isSlow: true)
        #expect(String(decoding: answers, as: UTF8.self).components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 3)
        #expect(answers.suffix(3).elementsEqual("}]}".utf8))
    }
}

import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("The output of a connection, over a real socket")
struct ConnectionOutputTests {
    private static let request = ListenerFixture.post(ListenerFixture.payload2013)

    /// Runs a server of one event loop while `body` has a connection to it, and can ask whether it sends straight to its
    /// socket.
    private static func connect(
        isEncrypted: Bool = false,
        _ body:
            @escaping @Sendable (inout RawConnection, _ isDirect: @Sendable () async throws -> Bool?) async throws ->
            Void
    ) async throws {
        let policy = CurrentPolicy(try ListenerFixture.policy())
        try await ObservedListener.run(policy: policy, isEncrypted: isEncrypted) { listener in
            try await RawConnection.with(listener.address) { connection in
                try await body(&connection) { try await listener.look { $0.output.isDirect } }
            }
        }
    }

    @Test(
        "Responses go straight to the socket, the first one too, and nothing goes past TLS", arguments: [false, true])
    func takesTheSocket(isEncrypted: Bool) async throws {
        try await Self.connect(isEncrypted: isEncrypted) { connection, isDirect in
            for _ in 1...4 {
                let response = try await connection.ask(Self.request)
                #expect(response?.body == ListenerFixture.answer)
                #expect(try await isDirect() == !isEncrypted)
            }
        }
    }

    @Test("What the socket does not take goes through the channel, in order and whole, and so does everything after it")
    func fallsBackToTheChannel() async throws {
        try await Self.connect { connection, isDirect in
            #expect(try await connection.ask(Self.request) != nil)
            #expect(try await isDirect() == true)
            // More responses than both buffers of the socket hold; each is a different one.
            let count = 12_000
            for start in stride(from: 0, to: count, by: 1_000) {
                let requests = (start..<(start + 1_000)).map { number in
                    ListenerFixture.post(#"{"bundle":"com.example.doto","version":"1.\#(number % 4)"}"#)
                }
                try await connection.send(requests.joined())
            }
            for number in 0..<count {
                let response = try await connection.response()
                let expected = number % 4 < 2 ? ListenerFixture.answer : #"{"messages":[]}"#
                guard response?.body == expected else {
                    Issue.record("response \(number) is \(String(describing: response))")
                    return
                }
            }
            #expect(try await isDirect() == false)
        }
    }
}

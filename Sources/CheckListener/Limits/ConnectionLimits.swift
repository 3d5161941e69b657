/// The limits on one connection to the public listener, and on all of them together.
///
/// The size of a request is not among them: what may be sent is the same on every server.
package struct ConnectionLimits: Sendable, Hashable {
    /// How many requests of one connection are answered; the last response says `Connection: close`.
    package var requestsPerConnection = 100_000
    /// How many connections there may be, of which each event loop has its share; one more ends the one of its event loop that
    /// has been idle longest, or is closed unanswered.
    package var connections = 16_384
    /// How many of them may be from one address or, with IPv6, one /64 network; 0 for no limit of its own.
    ///
    /// nil is the default, an eighth of ``connections`` and at least 64. Trusted proxies are not held to it.
    package var connectionsPerAddress: Int?
    /// How long a TLS handshake and the head of a request may take, from the connection or the first byte on.
    package var headerTimeout = Duration.seconds(10)
    /// How long a body may take, from the end of the head on.
    package var bodyTimeout = Duration.seconds(10)
    /// How long a connection may be silent between two requests.
    package var idleTimeout = Duration.seconds(75)
    /// How long a client may leave more unread than ``ConnectionOutput/maximumUnreadBytes``.
    package var unreadTimeout = Duration.seconds(10)
    /// How long the making of a document may keep a request waiting.
    package var documentTimeout = Duration.seconds(2)
    /// How many bytes of unread responses are kept, of which each event loop has its share; beyond it the connections that hold
    /// most are closed.
    package var unreadBytes = 268_435_456

    package init() {}

    /// How long a client may take to notice that the server has ended the connection.
    ///
    /// Closing at once would reset the connection when more is on its way, and destroy the last response.
    static let lingeringTimeout = Duration.seconds(5)

    /// How many connections one address may have; nil for as many as there may be.
    var maximumPerAddress: Int? {
        switch connectionsPerAddress {
        case nil: max(64, connections / 8)
        case 0: nil
        case let limit?: limit
        }
    }

    func timeout(of phase: ConnectionPhase) -> Duration {
        switch phase {
        case .head: headerTimeout
        case .body: bodyTimeout
        case .idle: idleTimeout
        case .document: documentTimeout
        case .release: SentRelease.timeout
        case .unread: unreadTimeout
        case .lingering: Self.lingeringTimeout
        }
    }
}

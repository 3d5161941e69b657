import NIOCore
import Synchronization

/// Reports the addresses of both listeners once both are open.
final class ReadinessReport: Sendable {
    private struct State {
        var publicURL: String?
        var managementURL: String?
    }

    private let state = Mutex(State())
    private let onReady: @Sendable (VersionGateServer.Addresses) -> Void

    private let isEncrypted: Bool

    init(isEncrypted: Bool, _ onReady: @escaping @Sendable (VersionGateServer.Addresses) -> Void) {
        self.isEncrypted = isEncrypted
        self.onReady = onReady
    }

    /// The public listener is open.
    func publicListener(_ address: SocketAddress) {
        note { [isEncrypted] in $0.publicURL = Self.url(address, scheme: isEncrypted ? "https" : "http") }
    }

    /// The management listener is open.
    func management(_ address: SocketAddress) {
        note { $0.managementURL = Self.url(address, scheme: "http") }
    }

    private func note(_ change: (inout State) -> Void) {
        let addresses = state.withLock { state -> VersionGateServer.Addresses? in
            change(&state)
            guard let publicURL = state.publicURL, let managementURL = state.managementURL else { return nil }
            return VersionGateServer.Addresses(publicURL: publicURL, managementURL: managementURL)
        }
        if let addresses {
            onReady(addresses)
        }
    }

    private static func url(_ address: SocketAddress, scheme: String) -> String {
        let host = address.ipAddress ?? "localhost"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(address.port ?? 0)"
    }
}

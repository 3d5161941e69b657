import Glibc
import NIOCore

/// Where a listener binds.
struct ListenAddress: Sendable, Hashable {
    /// A host name or an IP address.
    var host: String
    /// A TCP port; 0 lets the system pick one.
    var port: Int
}

extension ListenAddress {
    /// Checks that the management listener, which is here, has another port than the public one.
    ///
    /// - Throws: ``ConfigurationError``
    func requireOther(than publicAddress: ListenAddress) throws(ConfigurationError) {
        let everywhere = ["0.0.0.0", "::"]
        guard port != 0, port == publicAddress.port,
            host == publicAddress.host || everywhere.contains(host) || everywhere.contains(publicAddress.host)
        else { return }
        throw ConfigurationError(
            "--port (VERSIONGATE_PORT) and --management-port (VERSIONGATE_MANAGEMENT_PORT) are both \(port), and two listeners "
                + "cannot share a port; choose another for one of them"
        )
    }
}

struct ListenerError: Error, CustomStringConvertible {
    /// Which listener: `public` or `management`.
    let listener: String
    let address: ListenAddress
    private let reason: any Error

    init(listener: String, address: ListenAddress, reason: any Error) {
        self.listener = listener
        self.address = address
        self.reason = reason
    }

    var description: String {
        let option = listener == "public" ? "" : "management-"
        return """
            the \(listener) listener cannot be opened at \(address.host):\(address.port): \(reasonText). \
            Choose another address with --\(option)host and --\(option)port, or stop what uses this one.
            """
    }

    private var reasonText: String {
        if reason is SocketAddressError.UnknownHost { return "no such host is known" }
        guard let error = reason as? IOError else { return "\(reason)" }
        return switch error.errnoCode {
        case EADDRINUSE: "the port is in use"
        case EACCES: "this user may not listen on that port"
        case EADDRNOTAVAIL: "this machine has no such address"
        default: error.description
        }
    }
}

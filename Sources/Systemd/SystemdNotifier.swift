import Glibc

/// Notifies the systemd that started this process of its state.
///
/// Source: [sd_notify(3)](https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html).
package struct SystemdNotifier: Sendable {
    /// How long the service manager waits for a keep-alive before it restarts this process; nil: it wants none.
    package let watchdogInterval: Duration?

    /// The Unix datagram socket that notifications go to: a path, or `@` and an abstract name.
    private let address: String
    private let addressBytes: [UInt8]

    /// Reads where to send notifications.
    ///
    /// - Parameters:
    ///   - environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    ///   - processID: This process, for whom `WATCHDOG_PID` says whether the watchdog is meant.
    /// - Returns: nil where nothing waits for notifications.
    /// - Throws: ``SystemdError`` if `NOTIFY_SOCKET` is no address of a Unix socket.
    package init?(environment: [String: String], processID: Int32) throws(SystemdError) {
        guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else { return nil }
        let isAbstract = address.hasPrefix("@")
        guard isAbstract || address.hasPrefix("/") else {
            throw SystemdError("NOTIFY_SOCKET is \"\(address)\"; only a path or @NAME is known")
        }
        self.address = address
        // The name of an abstract socket begins with a zero byte, and a path ends with one.
        addressBytes = isAbstract ? [0] + address.utf8.dropFirst() : Array(address.utf8) + [0]
        guard addressBytes.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw SystemdError("NOTIFY_SOCKET is \"\(address)\", which is too long for a Unix socket")
        }
        let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == processID } ?? true
        watchdogInterval =
            isMeant
            ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    /// Sends states in one datagram.
    ///
    /// - Throws: ``SystemdError`` if systemd cannot be notified.
    package func notify(_ states: [State]) throws(SystemdError) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw fault(errno) }
        defer { close(descriptor) }
        // A service manager that stands still must not hold up the server.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: addressBytes) }
        let pathOffset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(pathOffset + addressBytes.count)
        let text = Array(states.map(\.line).joined(separator: "\n").utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                sendto(descriptor, text, text.count, 0, generic, length)
            }
        }
        guard sent == text.count else { throw fault(errno) }
    }

    private func fault(_ number: Int32) -> SystemdError {
        SystemdError("the service manager at \(address) cannot be notified: \(String(cString: strerror(number)))")
    }

    /// A state of the service.
    package enum State: Sendable, Hashable {
        /// The service works from now on.
        case ready
        /// The service is ending.
        case stopping
        /// A keep-alive.
        case watchdog
        /// A line for people.
        case status(String)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=" + text.replacing("\n", with: " ")
            }
        }
    }
}

/// A reason why the service manager cannot be notified, or cannot pass a socket.
package struct SystemdError: Error, Equatable, CustomStringConvertible {
    /// What is wrong and with which variable.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

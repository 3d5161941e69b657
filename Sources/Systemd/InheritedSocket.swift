import Glibc

/// A listening socket that the service manager opened and passed to this process.
///
/// It stays open while the process is restarted: connections wait for the next one instead of being refused.
///
/// Source: [sd_listen_fds(3)](https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html).
package struct InheritedSocket: Sendable, Hashable {
    /// The first descriptor that is passed.
    private static let firstDescriptor: Int32 = 3

    /// The descriptor of the socket.
    package let descriptor: Int32

    /// Finds the socket.
    ///
    /// - Parameters:
    ///   - environment: `LISTEN_FDS` and `LISTEN_PID`.
    ///   - processID: This process, for whom `LISTEN_PID` says whether the socket is meant.
    /// - Returns: nil if none was passed.
    /// - Throws: ``SystemdError`` if there are several: their order says nothing about their use.
    package init?(environment: [String: String], processID: Int32) throws(SystemdError) {
        guard let count = environment["LISTEN_FDS"], environment["LISTEN_PID"].flatMap({ Int32($0) }) == processID,
            count != "0"
        else { return nil }
        guard count == "1" else {
            throw SystemdError("LISTEN_FDS is \"\(count)\"; one socket is known, that of the public listener")
        }
        descriptor = Self.firstDescriptor
        // Programs that this process starts must not keep it open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
}

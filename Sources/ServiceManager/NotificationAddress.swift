// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The address of the Unix datagram socket that notifications go to: a path, or `@` and an abstract name.
struct NotificationAddress: Sendable {
    private let name: String
    private let bytes: [UInt8]

    /// Reads an address.
    ///
    /// - Throws: ``ServiceManagerError`` if it is neither a path nor an abstract name, or too long for a socket.
    init(_ name: String) throws(ServiceManagerError) {
        self.name = name
        let isAbstract = name.hasPrefix("@")
        guard isAbstract || name.hasPrefix("/") else {
            throw ServiceManagerError("NOTIFY_SOCKET is \"\(name)\"; only a path or @NAME is known")
        }
        // The name of an abstract socket begins with a zero byte, and a path ends with one.
        bytes = isAbstract ? [0] + name.utf8.dropFirst() : Array(name.utf8) + [0]
        guard bytes.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw ServiceManagerError("NOTIFY_SOCKET is \"\(name)\", which is too long for a Unix socket")
        }
    }

    /// Sends one datagram.
    func send(_ message: String) throws(ServiceManagerError) {
        #if os(Linux)
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { throw fault(errno) }
        defer { close(descriptor) }
        // A service manager that stands still must not hold up the server.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let pathOffset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(pathOffset + bytes.count)
        let text = Array(message.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                sendto(descriptor, text, text.count, 0, generic, length)
            }
        }
        guard sent == text.count else { throw fault(errno) }
    }

    private func fault(_ number: Int32) -> ServiceManagerError {
        ServiceManagerError("the service manager at \(name) cannot be told: \(String(cString: strerror(number)))")
    }
}

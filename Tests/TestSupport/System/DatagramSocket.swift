import Foundation

/// A Unix datagram socket as systemd has it, which receives what services tell about themselves.
public final class DatagramSocket: Sendable {
    /// Where a socket is.
    public enum Place: Sendable {
        /// In the file system.
        case path(String)
        /// In the namespace of abstract names, which Linux has.
        case abstract(String)
    }

    /// The address as the environment gives it.
    public let name: String

    /// What is received, up to ``close()``.
    public let messages: AsyncStream<String>

    private let descriptor: Int32

    /// Opens a socket.
    public init(_ place: Place) throws {
        let bytes: [UInt8]
        switch place {
        case .path(let path):
            name = path
            bytes = Array(path.utf8) + [0]
        case .abstract(let abstract):
            name = "@" + abstract
            bytes = [0] + Array(abstract.utf8)
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard status == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let (messages, continuation) = AsyncStream.makeStream(of: String.self)
        self.messages = messages
        let reader = Thread {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                continuation.yield(String(decoding: buffer[..<count], as: UTF8.self))
            }
            continuation.finish()
            _ = systemClose(descriptor)
        }
        reader.start()
    }

    /// Ends the messages.
    public func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        if name.hasPrefix("/") { unlink(name) }
    }
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

import Foundation
import NIOCore

/// A client of plain system calls, which sends and reads what and when a test wants.
final class BlockingClient {
    /// A system call failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
    }

    private let descriptor: Int32

    /// Connects.
    ///
    /// - Parameter isSlow: Whether the client has room for little that it has not read.
    init(_ address: SocketAddress, isSlow: Bool = false) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        // Only keeps a broken server from hanging the tests.
        set(SO_RCVTIMEO, timeval(tv_sec: 180, tv_usec: 0))
        set(SO_SNDTIMEO, timeval(tv_sec: 180, tv_usec: 0))
        if isSlow { set(SO_RCVBUF, Int32(4_096)) }
        let isConnected = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) == 0 }
        guard isConnected else {
            close(descriptor)
            throw Failure("connect")
        }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    }

    deinit { close(descriptor) }

    private func set(_ option: Int32, _ value: some BitwiseCopyable) {
        withUnsafeBytes(of: value) { bytes in
            _ = setsockopt(descriptor, SOL_SOCKET, option, bytes.baseAddress, socklen_t(bytes.count))
        }
    }

    /// Sends all of some bytes.
    ///
    /// - Returns: Whether the server took them; it does not where it has ended the connection.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        Array(bytes).withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.send(descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                if count <= 0 { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Says that nothing more is sent.
    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads what there is, at most so many bytes; nothing at the end.
    func read(upTo count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = recv(descriptor, &bytes, count, 0)
        guard read >= 0 else { throw Failure("recv") }
        return Array(bytes.prefix(read))
    }

    /// Reads until there are so many bytes, or to the end.
    func read(_ count: Int = .max, inPiecesOf piece: Int = 65_536) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try read(upTo: min(piece, count - bytes.count))
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}

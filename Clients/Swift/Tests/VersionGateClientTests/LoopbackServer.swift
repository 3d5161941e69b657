import Foundation
import VersionGateClient

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A listener on loopback that treats each connection as it is told. It ends with the process.
final class LoopbackServer: Sendable {
    /// What has come in a request.
    struct Request: Sendable {
        /// The lines before the body, without the last, empty one.
        var head: [String]
        var body: Data

        /// The value of a header; nil if it did not come.
        func header(_ name: String) -> String? {
            for line in head.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2, parts[0].lowercased() == name.lowercased() {
                    return parts[1].trimmingCharacters(in: .whitespaces)
                }
            }
            return nil
        }
    }

    private let received = Locked<[Request]>([])
    let port: UInt16

    /// Listens, and runs `serve` on a thread for each connection, once its request has come.
    init(serve: @escaping @Sendable (Connection) -> Void) throws {
        let (socket, port) = try Self.open()
        self.port = port
        let thread = Thread { [received] in
            while true {
                let accepted = accept(socket, nil, nil)
                if accepted < 0 { return }
                let thread = Thread {
                    let connection = Connection(socket: accepted)
                    defer { connection.close() }
                    guard let request = connection.readRequest() else { return }
                    received.withLock { $0.append(request) }
                    serve(connection)
                }
                thread.start()
            }
        }
        thread.start()
    }

    /// Answers each request alike.
    convenience init(status: String = "200 OK", headers: [String] = [], body: String) throws {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
        let response = head.joined(separator: "\r\n") + "\r\n\r\n" + body
        try self.init { connection in connection.write(response) }
    }

    /// The address of the server.
    var url: URL {
        URL(string: "http://127.0.0.1:\(port)") ?? URL(fileURLWithPath: "/")
    }

    /// All requests so far.
    var requests: [Request] { received.withLock { $0 } }

    struct SystemError: Error {
        var code = errno
    }

    /// A socket that listens on a port of its own.
    private static func open() throws -> (socket: Int32, port: UInt16) {
        #if canImport(Glibc)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0
                    && listen(listener, 64) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard listener >= 0, isListening else { throw SystemError() }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// The side of the server of a connection.
final class Connection: Sendable {
    private let socket: Int32

    init(socket: Int32) {
        self.socket = socket
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Sends text; false if the client has gone.
    @discardableResult
    func write(_ text: String) -> Bool {
        write(Data(text.utf8))
    }

    /// Sends bytes; false if the client has gone.
    @discardableResult
    func write(_ data: Data) -> Bool {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var bytes = Array(data)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, flags) }
            if count <= 0 { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Stays silent until the client closes the connection.
    func waitForClose() {
        while receive() != nil {}
    }

    /// Ends the connection by a reset: what is under way is lost.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    fileprivate func close() {
        #if canImport(Darwin)
            _ = Darwin.close(socket)
        #elseif canImport(Musl)
            _ = Musl.close(socket)
        #else
            _ = Glibc.close(socket)
        #endif
    }

    /// A request with a body of a known length; nil if the client closes before.
    fileprivate func readRequest() -> LoopbackServer.Request? {
        var bytes = Data()
        while true {
            if let end = bytes.range(of: Data("\r\n\r\n".utf8)) {
                let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                var request = LoopbackServer.Request(head: head, body: Data(bytes[end.upperBound...]))
                let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
                while request.body.count < length {
                    guard let more = receive() else { return nil }
                    request.body.append(more)
                }
                return request
            }
            guard let more = receive() else { return nil }
            bytes.append(more)
        }
    }

    private func receive() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(socket, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : nil
    }
}

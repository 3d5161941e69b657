import Foundation
import NIOCore
import NIOPosix

/// A connection that sends many checks at once and counts the answers.
enum CheckPipeline {
    /// How many checks are sent before their answers are read.
    private static let depth = 100

    /// Sends the checks over one connection.
    ///
    /// - Parameter checks: Gives the JSON bodies one after the other; nil at the end.
    /// - Returns: How many were answered by 200; fewer than were sent only when the server ended the connection.
    static func run(_ publicURL: String, _ checks: () -> String?) async throws -> Int {
        guard let url = URL(string: publicURL), let host = url.host(), let port = url.port else { return 0 }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var inbound = inbound.makeAsyncIterator()
            var received = ByteBuffer()
            var answered = 0
            while true {
                var requests = ByteBuffer()
                var sent = 0
                while sent < depth, let body = checks() {
                    requests.writeString(
                        "POST /v1/check HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    )
                    sent += 1
                }
                if sent == 0 { return answered }
                do {
                    try await outbound.write(requests)
                } catch is IOError {
                    return answered
                } catch ChannelError.ioOnClosedChannel {
                    return answered
                }
                while sent > 0 {
                    let answers = takeAnswers(&received)
                    answered += answers
                    sent -= answers
                    if sent == 0 { break }
                    do {
                        guard var more = try await inbound.next(isolation: #isolation) else { return answered }
                        received.writeBuffer(&more)
                    } catch is IOError {
                        return answered
                    }
                }
            }
        }
    }

    /// Takes the whole answers of 200 that are at the beginning of what was received.
    private static func takeAnswers(_ received: inout ByteBuffer) -> Int {
        var answers = 0
        while let length = received.withUnsafeReadableBytes(answerLength), length <= received.readableBytes {
            received.moveReaderIndex(forwardBy: length)
            answers += 1
        }
        received.discardReadBytes()
        return answers
    }

    /// The length of the answer at the beginning of the bytes; nil before its head is whole.
    private static func answerLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let field = end(of: "\r\nContent-Length: ", in: bytes), let body = end(of: "\r\n\r\n", in: bytes) else {
            return nil
        }
        precondition(end(of: "HTTP/1.1 200", in: bytes) == 12, "a check was not answered by 200")
        return body + (Int(String(decoding: bytes[field..<body].prefix { $0 != 13 }, as: UTF8.self)) ?? 0)
    }

    /// Where the first occurrence of `text` ends; found by the C library, for test builds are slow.
    private static func end(of text: StaticString, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress else { return nil }
        let length = text.utf8CodeUnitCount
        var offset = 0
        while offset + length <= bytes.count {
            let rest = bytes.count - length + 1 - offset
            guard let found = memchr(start + offset, Int32(text.utf8Start[0]), rest) else { return nil }
            offset = UnsafeRawPointer(found) - start
            if memcmp(found, text.utf8Start, length) == 0 { return offset + length }
            offset += 1
        }
        return nil
    }
}

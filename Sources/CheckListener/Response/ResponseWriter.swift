// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// Writes whole HTTP/1.1 responses as bytes.
///
/// The answer of a check is one buffer: a head that is made anew about once a second, and the prepared bytes of the
/// messages. This costs a good tenth less per request than encoding the head through a channel handler.
struct ResponseWriter {
    /// What a response says about the connection.
    enum ConnectionHeader: Equatable {
        /// Nothing: the connection stays open, as is usual in HTTP/1.1.
        case implied
        /// The connection stays open; an HTTP/1.0 client needs to see it.
        case keepAlive
        /// The connection ends after this response.
        case close

        var line: String {
            switch self {
            case .implied: ""
            case .keepAlive: "Connection: keep-alive\r\n"
            case .close: "Connection: close\r\n"
            }
        }
    }

    /// What the head of an answer depends on up to the length.
    private struct HeadKey: Equatable {
        let second: Int64
        let revision: Int64?
    }

    /// The most memory that a connection keeps for its next answer, in bytes.
    private static let keptCapacity = 4_096

    private var headKey: HeadKey?
    private var head: [UInt8] = []

    /// Writes the answer of a check in place of what a buffer holds.
    ///
    /// The memory of the buffer is used again when what it held has been sent, and when it is not unusually much.
    mutating func writeAnswer(
        body: [UInt8],
        revision: Int64?,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        to buffer: inout ByteBuffer
    ) {
        let key = HeadKey(second: HTTPDate.second(of: now), revision: revision)
        if key != headKey {
            headKey = key
            head = Array(Self.head(key).utf8)
        }
        if buffer.capacity > Self.keptCapacity { buffer = ByteBuffer() }
        buffer.clear(minimumCapacity: head.count + body.count + 48)
        buffer.writeBytes(head)
        buffer.writeDecimal(body.count)
        buffer.writeStaticString("\r\n")
        buffer.writeString(connection.line)
        buffer.writeStaticString("\r\n")
        if !omitsBody {
            buffer.writeBytes(body)
        }
    }

    /// The head of an answer up to the length.
    private static func head(_ key: HeadKey) -> String {
        let revision = key.revision.map { "Policy-Revision: \($0)\r\n" } ?? ""
        return """
            HTTP/1.1 200 OK\r
            Content-Type: application/json\r
            Cache-Control: no-store\r
            \(revision)Date: \(HTTPDate.format(key.second))\r
            Content-Length:\u{20}
            """
    }

    /// The answer to a request that could not be read.
    func problem(_ fault: RequestFault, connection: ConnectionHeader, omitsBody: Bool, now: Timestamp) -> ByteBuffer {
        let document = fault.problemDocument
        let header = fault.header.map { "\($0.name): \($0.value)\r\n" } ?? ""
        return ByteBuffer(
            string: """
                HTTP/1.1 \(fault.status.code) \(fault.status.reasonPhrase)\r
                Content-Type: application/problem+json\r
                Cache-Control: no-store\r
                \(header)Date: \(HTTPDate.format(HTTPDate.second(of: now)))\r
                \(connection.line)Content-Length: \(document.utf8.count)\r
                \r
                \(omitsBody ? "" : document)
                """
        )
    }
}

extension ByteBuffer {
    /// Writes a number that is not negative in decimal digits.
    fileprivate mutating func writeDecimal(_ number: Int) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            writeInteger(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// Writes whole HTTP/1.1 responses as bytes.
///
/// The answer of a check is one buffer: a head made of prepared pieces and the prepared bytes of the messages. This
/// costs a good tenth less per request than encoding the head through a channel handler.
struct ResponseWriter {
    private var date = HTTPDate()

    /// The answer of a check.
    mutating func answer(
        body: [UInt8],
        revision: Int64?,
        caching: StaticString,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        allocator: ByteBufferAllocator
    ) -> ByteBuffer {
        var buffer = allocator.buffer(capacity: 256 + body.count)
        buffer.writeStaticString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: ")
        buffer.writeStaticString(caching)
        if let revision {
            buffer.writeStaticString("\r\nPolicy-Revision: ")
            buffer.writeDecimal(UInt64(revision))
        }
        buffer.writeStaticString("\r\nDate: ")
        date.write(to: &buffer, at: now)
        buffer.writeStaticString(connection.line)
        buffer.writeStaticString("\r\nContent-Length: ")
        buffer.writeDecimal(UInt64(body.count))
        buffer.writeStaticString("\r\n\r\n")
        if !omitsBody {
            buffer.writeBytes(body)
        }
        return buffer
    }

    /// The answer to a request that could not be read.
    mutating func problem(
        _ fault: RequestFault,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        allocator: ByteBufferAllocator
    ) -> ByteBuffer {
        let document = fault.problemDocument
        var buffer = allocator.buffer(capacity: 320 + document.utf8.count)
        buffer.writeString("HTTP/1.1 \(fault.status.code) \(fault.status.reasonPhrase)\r\n")
        buffer.writeStaticString("Content-Type: application/problem+json\r\nCache-Control: no-store\r\n")
        if let header = fault.header {
            buffer.writeString("\(header.name): \(header.value)\r\n")
        }
        buffer.writeStaticString("Date: ")
        date.write(to: &buffer, at: now)
        buffer.writeStaticString(connection.line)
        buffer.writeString("\r\nContent-Length: \(document.utf8.count)\r\n\r\n")
        if !omitsBody {
            buffer.writeString(document)
        }
        return buffer
    }

    /// What a response says about the connection.
    enum ConnectionHeader {
        /// Nothing: the connection stays open, as is usual in HTTP/1.1.
        case implied
        /// The connection stays open, which an HTTP/1.0 client has to be told.
        case keepAlive
        /// The connection ends after this response.
        case close

        fileprivate var line: StaticString {
            switch self {
            case .implied: ""
            case .keepAlive: "\r\nConnection: keep-alive"
            case .close: "\r\nConnection: close"
            }
        }
    }
}

extension ByteBuffer {
    /// Writes a number in decimal digits.
    fileprivate mutating func writeDecimal(_ number: UInt64) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { bytes in
            var rest = number
            var start = bytes.count
            repeat {
                start -= 1
                bytes[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            _ = writeBytes(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
    }
}

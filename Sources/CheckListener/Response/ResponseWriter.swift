// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

/// Writes whole HTTP/1.1 responses as bytes.
///
/// The answer of a check is a head that is made anew about once a second, and the prepared bytes of the messages. This
/// costs a good tenth less per request than encoding the head through a channel handler.
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

    private var headKey: HeadKey?
    private var head: [UInt8] = []
    private var dateSecond: Int64?
    private var date: [UInt8] = []

    /// The value of `Date`, which is made anew once a second.
    mutating func date(_ now: Timestamp) -> [UInt8] {
        let second = HTTPDate.second(of: now)
        if second != dateSecond {
            dateSecond = second
            date = Array(HTTPDate.format(second).utf8)
        }
        return date
    }

    /// Appends the answer of a check.
    mutating func writeAnswer(
        _ body: borrowing ByteWriter,
        revision: Int64?,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        to output: inout ByteWriter
    ) {
        let key = HeadKey(second: HTTPDate.second(of: now), revision: revision)
        if key != headKey {
            headKey = key
            head = Array(Self.head(key).utf8)
        }
        output.append(head)
        output.append(decimal: body.count)
        output.append("\r\n")
        if connection != .implied { output.append(connection.line) }
        output.append("\r\n")
        if !omitsBody { body.withBytes { output.append($0) } }
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

    /// Appends the answer to a request that could not be read.
    func writeProblem(
        _ fault: RequestFault,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        to output: inout ByteWriter
    ) {
        let document = fault.document ?? ("application/problem+json", Array(fault.problemDocument.utf8))
        let header = fault.header.map { "\($0.name): \($0.value)\r\n" } ?? ""
        output.append(
            """
            HTTP/1.1 \(fault.status.code) \(fault.status.reasonPhrase)\r
            Content-Type: \(document.contentType)\r
            Cache-Control: no-store\r
            \(header)Date: \(HTTPDate.format(HTTPDate.second(of: now)))\r
            \(connection.line)Content-Length: \(document.bytes.count)\r
            \r

            """ as String
        )
        if !omitsBody { output.append(document.bytes) }
    }
}

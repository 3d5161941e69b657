// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1
import UpdatePolicy

extension ResponseWriter {
    /// Appends a document; a client that has it already gets 304 without it.
    ///
    /// - Returns: The status.
    mutating func writeFeed(
        _ document: RenderedFeed,
        revision: Int64?,
        known: IfNoneMatch?,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        to output: inout ByteWriter
    ) -> HTTPResponseStatus {
        let isKnown = known?.contains(document.tag) ?? false
        let status = isKnown ? HTTPResponseStatus.notModified : .ok
        beginHead(status, to: &output)
        if !isKnown {
            output.append("Content-Type: ")
            output.append(document.contentType)
            output.append("\r\nContent-Length: ")
            output.append(decimal: document.bytes.count)
            output.append("\r\n")
        }
        output.append("Cache-Control: no-cache\r\nETag: ")
        output.append(document.tag.text)
        output.append("\r\n")
        if !document.vary.isEmpty { output.append("Vary: \(document.vary.joined(separator: ", "))\r\n") }
        endHead(revision, connection, now, to: &output)
        if !isKnown, !omitsBody { output.append(document.bytes) }
        return status
    }

    /// Appends the answer to a gateway.
    ///
    /// - Returns: The status.
    mutating func writeGate(
        _ answer: GateAnswer,
        revision: Int64?,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        to output: inout ByteWriter
    ) -> HTTPResponseStatus {
        let refusal = answer.refusal
        let status = refusal?.status ?? .noContent
        beginHead(status, to: &output)
        output.append("Cache-Control: no-store\r\n")
        if let refusal {
            output.append("Content-Type: application/json\r\nContent-Length: ")
            output.append(decimal: refusal.messages.count)
            output.append("\r\nApp-Lockout: \(refusal.rule)\r\n")
            if status == .upgradeRequired { output.append("Upgrade: app\r\nConnection: Upgrade\r\n") }
        }
        endHead(revision, connection, now, to: &output)
        if let refusal, !omitsBody { output.append(refusal.messages) }
        return status
    }

    private func beginHead(_ status: HTTPResponseStatus, to output: inout ByteWriter) {
        output.append("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
    }

    private mutating func endHead(
        _ revision: Int64?,
        _ connection: ConnectionHeader,
        _ now: Timestamp,
        to output: inout ByteWriter
    ) {
        if let revision {
            output.append("Policy-Revision: ")
            output.append(decimal: Int(revision))
            output.append("\r\n")
        }
        output.append("Date: ")
        output.append(date(now))
        output.append("\r\n")
        if connection != .implied { output.append(connection.line) }
        output.append("\r\n")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import NIOHTTP1
import UpdatePolicy

extension ResponseWriter {
    /// The answer of a check that caches may keep as long as they ask each time whether it still holds.
    ///
    /// Nothing in it depends on the fields of the request, so it has no `Vary`.
    ///
    /// - Parameter known: The answers that the client has; it gets 304 without a body if this one is among them.
    func revalidatableAnswer(
        body: [UInt8],
        revision: Int64?,
        known: IfNoneMatch,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp
    ) -> (status: HTTPResponseStatus, bytes: ByteBuffer) {
        let tag = EntityTag(of: body)
        let isKnown = known.contains(tag)
        let status = isKnown ? "304 Not Modified" : "200 OK"
        let content = isKnown ? "" : "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
        let head = """
            HTTP/1.1 \(status)\r
            \(content)Cache-Control: no-cache\r
            ETag: \(tag.text)\r
            \(revision.map { "Policy-Revision: \($0)\r\n" } ?? "")\
            Date: \(HTTPDate.format(HTTPDate.second(of: now)))\r
            \(connection.line)\r\n
            """
        var buffer = ByteBuffer()
        buffer.reserveCapacity(head.utf8.count + body.count)
        buffer.writeString(head)
        if !isKnown, !omitsBody {
            buffer.writeBytes(body)
        }
        return (isKnown ? .notModified : .ok, buffer)
    }
}

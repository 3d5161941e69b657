import UpdateFeeds
import UpdatePolicy

/// Writes whole HTTP/1.1 responses as bytes: the one place that knows what stands in a head.
///
/// The head of the usual answer of a check is written anew about once a second, when it changes, and copied for the others.
/// This costs a good tenth less per request than encoding the head through a channel handler.
struct ResponseWriter {
    /// What the usual head depends on, up to the length.
    private struct HeadKey: Equatable {
        let second: Int64
        let revision: Int64?
    }

    private let origins: AllowedOrigins?
    private var usualKey: HeadKey?
    private var usualHead = ByteWriter()

    private var dateSecond: Int64?
    private var date: [UInt8] = []

    /// Creates a writer; without origins, no response says that a page of another one may read it.
    init(origins: AllowedOrigins? = nil) {
        self.origins = origins
    }

    /// Appends a response.
    ///
    /// - Parameters:
    ///   - answer: The body that ``Responder`` has just made.
    ///   - request: What is answered; a request for the head alone is sent no body.
    mutating func write(
        _ response: Response,
        answer: borrowing ByteWriter,
        connection: ConnectionHeader,
        to request: RequestLabel,
        now: Timestamp,
        to output: inout ByteWriter
    ) {
        let second = now.second
        let omitsBody = request.method == .head
        switch response {
        case .check(let revision):
            let key = HeadKey(second: second, revision: revision)
            if key != usualKey { beginUsualHead(key) }
            usualHead.withBytes { output.append($0) }
            endHead(length: answer.count, connection, request, to: &output)
            if !omitsBody { answer.withBytes { output.append($0) } }
        case .problem(let fault):
            let document = fault.document ?? ("application/problem+json", Array(fault.problemDocument.utf8))
            let head = ResponseHead(
                status: fault.status, contentType: document.contentType, fields: fault.header.map { [$0] } ?? []
            )
            write(
                .other(head, .bytes(document.bytes)), answer: answer, connection: connection, to: request, now: now,
                to: &output
            )
        case .other(let head, let body):
            let length: Int? =
                switch body {
                case .none: nil
                case .answer: answer.count
                case .bytes(let bytes): bytes.count
                }
            beginHead(head, second, to: &output)
            endHead(length: length, connection, request, to: &output)
            if omitsBody { return }
            if case .bytes(let bytes) = body { output.append(bytes) }
            if case .answer = body { answer.withBytes { output.append($0) } }
        }
    }

    @inline(never)
    private mutating func beginUsualHead(_ key: HeadKey) {
        usualKey = key
        var bytes = ByteWriter()
        beginHead(ResponseHead(contentType: "application/json", revision: key.revision), key.second, to: &bytes)
        usualHead = bytes
    }

    /// The head up to the length.
    private mutating func beginHead(_ head: ResponseHead, _ second: Int64, to output: inout ByteWriter) {
        output.append("HTTP/1.1 ")
        output.append(decimal: Int(head.status.code))
        output.append(" ")
        output.append(text: head.status.reason)
        if let contentType = head.contentType {
            output.append("\r\nContent-Type: ")
            output.append(text: contentType)
        }
        if let tag = head.tag {
            output.append("\r\nCache-Control: no-cache\r\nETag: ")
            output.append(text: tag.text)
        } else {
            output.append("\r\nCache-Control: no-store")
        }
        if !head.vary.isEmpty {
            output.append("\r\nVary: ")
            output.append(text: head.vary.joined(separator: ", "))
        }
        for field in head.fields {
            output.append("\r\n")
            output.append(text: field.name)
            output.append(": ")
            output.append(text: field.value)
        }
        if let revision = head.revision {
            output.append("\r\nPolicy-Revision: ")
            output.append(decimal: Int(revision))
        }
        output.append("\r\nDate: ")
        if second != dateSecond {
            dateSecond = second
            date = Array(InternetDate.text(Timestamp(secondsSince1970: second), zone: "GMT").utf8)
        }
        output.append(date)
        output.append("\r\n")
    }

    @inline(__always)
    private func endHead(
        length: Int?,
        _ connection: ConnectionHeader,
        _ request: RequestLabel,
        to output: inout ByteWriter
    ) {
        origins?.writeFields(of: request, to: &output)
        if let length {
            output.append("Content-Length: ")
            output.append(decimal: length)
            output.append("\r\n")
        }
        switch connection {
        case .implied: output.append("\r\n")
        case .keepAlive: output.append("Connection: keep-alive\r\n\r\n")
        case .close: output.append("Connection: close\r\n\r\n")
        }
    }
}

extension Timestamp {
    /// The second since 1970 that the time is in.
    var second: Int64 { microsecondsSince1970.flooredQuotient(by: 1_000_000) }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import FeedTemplates
import NIOHTTP1
import UpdateFeeds
import UpdatePolicy

/// A document as it is sent.
struct RenderedFeed {
    let status: HTTPResponseStatus
    let contentType: String
    let bytes: [UInt8]
    /// The fields of the request that it depends on.
    let vary: [String]
    let tag: EntityTag

    init(status: HTTPResponseStatus, contentType: String, bytes: [UInt8], vary: [String]) {
        self.status = status
        self.contentType = contentType
        self.bytes = bytes
        self.vary = vary
        tag = bytes.withUnsafeBytes { EntityTag(of: $0) }
    }
}

/// Makes the documents of one event loop.
///
/// A document is a pure function of the policy, the time and the question, so those of this second are kept: a storm of one
/// question costs a look at them.
struct FeedResponder {
    private var cache = FeedCache()
    /// The templates of one policy that were asked for, by app and name; nil for one that cannot be read.
    private var templates: [TemplateName: ParsedTemplate?] = [:]
    private var serialNumber: UInt64?

    private struct TemplateName: Hashable {
        let bundle: String
        let name: String
    }

    private static let noDocument = RequestFault(
        .notFound,
        "There is no document at this path. The paths of an app, and templates that cannot be served, are shown by "
            + "versiongate feed list and feed lint."
    )

    /// The document that answers a request.
    ///
    /// - Throws: 404 for a template that the app does not have, that cannot be read, or whose document is too large.
    mutating func document(
        for request: FeedRequest,
        policy: CompiledPolicy?,
        now: Timestamp
    ) throws(RequestFault) -> RenderedFeed {
        if policy?.serialNumber != serialNumber {
            serialNumber = policy?.serialNumber
            templates = [:]
            cache.removeAll()
        }
        cache.begin(second: HTTPDate.second(of: now))
        if let document = cache[request] { return document }
        let document = try render(request, policy, now)
        cache.insert(document, for: request)
        return document
    }

    private mutating func render(
        _ request: FeedRequest,
        _ policy: CompiledPolicy?,
        _ now: Timestamp
    ) throws(RequestFault) -> RenderedFeed {
        let (question, isWhole) = request.question()
        if case .template(let bundle, let name) = request.subject {
            return try render(bundle, name, question, policy, now)
        }
        let document = FeedDocument(answering: question, by: isWhole ? policy : nil, at: now)
        return RenderedFeed(
            status: HTTPResponseStatus(statusCode: document.status),
            contentType: document.contentType,
            bytes: document.bytes,
            vary: document.vary
        )
    }

    private mutating func render(
        _ bundle: String,
        _ name: String,
        _ question: FeedQuestion,
        _ policy: CompiledPolicy?,
        _ now: Timestamp
    ) throws(RequestFault) -> RenderedFeed {
        guard let policy, let app = policy.section(ofApp: bundle)?.app,
            let template = app.feedTemplates.first(where: { $0.name == name }),
            let reading = read(template, of: app.bundle),
            let values = FeedValues(answering: question, by: policy, at: now),
            let text = reading.render(values)
        else { throw Self.noDocument }
        return RenderedFeed(
            status: .ok,
            contentType: template.contentType,
            bytes: Array(text.utf8),
            vary: question.vary
        )
    }

    private mutating func read(_ template: FeedTemplate, of bundle: String) -> ParsedTemplate? {
        let key = TemplateName(bundle: bundle, name: template.name)
        if let known = templates[key] { return known }
        let reading = try? ParsedTemplate(template)
        templates[key] = .some(reading)
        return reading
    }
}

/// The documents of one policy and one second, within a bound of memory.
private struct FeedCache {
    /// The fields that a document depends on; nil for those it does not.
    private struct Fields: Hashable {
        let acceptLanguage, userAgent: String?
    }

    /// The documents of one target. Which fields they depend on follows from it.
    private struct Entry {
        let vary: [String]
        var documents: [Fields: RenderedFeed] = [:]

        func fields(_ request: FeedRequest) -> Fields {
            Fields(
                acceptLanguage: vary.contains("Accept-Language") ? request.acceptLanguage ?? "" : nil,
                userAgent: vary.contains("User-Agent") ? request.userAgent ?? "" : nil
            )
        }
    }

    /// The most memory in bytes, about.
    private static let maximumSize = 4 << 20
    /// What a document takes beside its bytes.
    private static let overhead = 512

    private var entries: [String: Entry] = [:]
    private var second = Int64.min
    private var size = 0

    mutating func removeAll() {
        entries = [:]
        size = 0
    }

    /// Forgets the documents of another second.
    mutating func begin(second: Int64) {
        guard second != self.second else { return }
        self.second = second
        if !entries.isEmpty { removeAll() }
    }

    subscript(_ request: FeedRequest) -> RenderedFeed? {
        guard let entry = entries[request.target] else { return nil }
        return entry.documents[entry.fields(request)]
    }

    mutating func insert(_ document: RenderedFeed, for request: FeedRequest) {
        let fields = (request.acceptLanguage?.utf8.count ?? 0) + (request.userAgent?.utf8.count ?? 0)
        let added = document.bytes.count + request.target.utf8.count + fields + Self.overhead
        if size + added > Self.maximumSize { removeAll() }
        size += added
        // Moved out and back, so that it is changed without a copy.
        var entry = entries.removeValue(forKey: request.target) ?? Entry(vary: document.vary)
        entry.documents[entry.fields(request)] = document
        entries[request.target] = entry
    }
}

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
        let isKnown = document.status == .ok && known?.contains(document.tag) ?? false
        let status = isKnown ? .notModified : document.status
        beginHead(status, to: &output)
        if !isKnown {
            output.append("Content-Type: ")
            output.append(document.contentType)
            output.append("\r\nContent-Length: ")
            output.append(decimal: document.bytes.count)
            output.append("\r\n")
        }
        if document.status == .ok {
            output.append("Cache-Control: no-cache\r\nETag: ")
            output.append(document.tag.text)
            output.append("\r\n")
        } else {
            output.append("Cache-Control: no-store\r\n")
        }
        if !document.vary.isEmpty { output.append("Vary: \(document.vary.joined(separator: ", "))\r\n") }
        endHead(revision, connection, now, to: &output)
        if !isKnown, !omitsBody { output.append(document.bytes) }
        return status
    }

    /// A client that a gateway is to turn away.
    struct Refusal {
        let status: HTTPResponseStatus
        /// The key of the rule that locks it out.
        let rule: String
    }

    /// Appends the answer to a gateway; nil lets the client pass.
    ///
    /// - Parameter messages: What a refused client is told.
    /// - Returns: The status.
    mutating func writeGate(
        _ refusal: Refusal?,
        _ messages: borrowing ByteWriter,
        revision: Int64?,
        connection: ConnectionHeader,
        omitsBody: Bool,
        now: Timestamp,
        to output: inout ByteWriter
    ) -> HTTPResponseStatus {
        let status = refusal?.status ?? .noContent
        beginHead(status, to: &output)
        output.append("Cache-Control: no-store\r\n")
        if let refusal {
            output.append("Content-Type: application/json\r\nContent-Length: ")
            output.append(decimal: messages.count)
            output.append("\r\nApp-Lockout: \(refusal.rule)\r\n")
            if status == .upgradeRequired { output.append("Upgrade: app\r\nConnection: Upgrade\r\n") }
        }
        endHead(revision, connection, now, to: &output)
        if refusal != nil, !omitsBody { messages.withBytes { output.append($0) } }
        return status
    }

    /// Appends the answer to a report that nobody reads: an empty object.
    mutating func writeReceipt(connection: ConnectionHeader, now: Timestamp, to output: inout ByteWriter) {
        beginHead(.ok, to: &output)
        output.append("Content-Type: application/json\r\nContent-Length: 2\r\nCache-Control: no-store\r\n")
        endHead(nil, connection, now, to: &output)
        output.append("{}")
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

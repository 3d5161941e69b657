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
///
/// They stay until the next question of another second, which may come much later. So nothing of a question stays with
/// them, such as an id of an installation: a question is known by a hash with a secret. Nobody can make two questions of
/// one hash, to be given the document of somebody else.
struct FeedCache {
    /// What a question, or a part of it, is known by: a SHA-256.
    private typealias Fingerprint = SIMD4<UInt64>

    /// The documents of one target. Which fields they depend on follows from it.
    private struct Entry {
        let vary: [String]
        /// By those of the fields.
        var documents: [Fingerprint: RenderedFeed] = [:]
    }

    /// The most memory in bytes, about.
    static let maximumSize = 4 << 20
    /// What a document takes beside its bytes.
    private static let overhead = 512

    /// How many bytes the documents take, about.
    private(set) var size = 0
    private var entries: [Fingerprint: Entry] = [:]
    private var second = Int64.min
    private let secret = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

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
        guard let entry = entries[fingerprint([request.target])] else { return nil }
        return entry.documents[fingerprint(of: request, entry.vary)]
    }

    mutating func insert(_ document: RenderedFeed, for request: FeedRequest) {
        let added = document.bytes.count + Self.overhead
        if size + added > Self.maximumSize { removeAll() }
        size += added
        let fields = fingerprint(of: request, document.vary)
        entries[fingerprint([request.target]), default: Entry(vary: document.vary)].documents[fields] = document
    }

    /// What stands for the fields that a document depends on.
    private func fingerprint(of request: FeedRequest, _ vary: [String]) -> Fingerprint {
        fingerprint([
            vary.contains("Accept-Language") ? request.acceptLanguage ?? "" : "",
            vary.contains("User-Agent") ? request.userAgent ?? "" : "",
        ])
    }

    /// What stands for some texts; their lengths keep them apart.
    private func fingerprint(_ texts: [String]) -> Fingerprint {
        var hash = SHA256()
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        for text in texts {
            withUnsafeBytes(of: text.utf8.count) { hash.update(bufferPointer: $0) }
            hash.update(data: text.utf8)
        }
        return hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: Fingerprint.self) }
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

import UpdatePolicy

/// A document as it is sent.
struct RenderedFeed: Sendable {
    let contentType: String
    let bytes: [UInt8]
    /// The fields of the request that it depends on.
    let vary: [String]
    let tag: EntityTag

    init(contentType: String, bytes: [UInt8], vary: [String]) {
        self.contentType = contentType
        self.bytes = bytes
        self.vary = vary
        tag = bytes.withUnsafeBytes { EntityTag(of: $0) }
    }
}

/// The documents of one policy and one second, within a bound of memory: a storm of one question costs a look at them.
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
    private var serialNumber: UInt64?
    private let secret = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

    /// Forgets the documents of another second or another policy.
    mutating func begin(second: Int64, _ policy: CompiledPolicy?) {
        guard second != self.second || policy?.serialNumber != serialNumber else { return }
        self.second = second
        serialNumber = policy?.serialNumber
        if !entries.isEmpty { removeAll() }
    }

    /// Whether documents of a second and a policy are kept now.
    func keeps(second: Int64, _ policy: CompiledPolicy?) -> Bool {
        second == self.second && policy?.serialNumber == serialNumber
    }

    private mutating func removeAll() {
        entries = [:]
        size = 0
    }

    subscript(_ request: FeedRequest) -> RenderedFeed? {
        guard let entry = entries[fingerprint([request.target])] else { return nil }
        return entry.documents[fingerprint(of: request, entry.vary)]
    }

    mutating func insert(_ document: RenderedFeed, for request: FeedRequest) {
        let added = document.bytes.count + Self.overhead
        if size + added > Self.maximumSize { removeAll() }
        let fields = fingerprint(of: request, document.vary)
        let target = fingerprint([request.target])
        if entries[target, default: Entry(vary: document.vary)].documents.updateValue(document, forKey: fields) == nil {
            size += added
        }
    }

    /// What stands for the fields that a document depends on.
    private func fingerprint(of request: FeedRequest, _ vary: [String]) -> Fingerprint {
        fingerprint(request.values(of: vary))
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

/// The rules that ask for a certain value, found by the value's hash.
///
/// Two values may share a hash, so what is found must still be compared.
struct HashIndex: Sendable {
    private let hashes: [UInt64]
    private let rules: [UInt32]

    init(_ entries: [(hash: UInt64, rule: UInt32)]) {
        let sorted = entries.sorted { ($0.hash, $0.rule) < ($1.hash, $1.rule) }
        hashes = sorted.map(\.hash)
        rules = sorted.map(\.rule)
    }

    var isEmpty: Bool { rules.isEmpty }

    func append(_ hash: UInt64, to numbers: inout IndexList) {
        forEachRule(hash) { numbers.append($0) }
    }

    @inline(__always)
    func forEachRule(_ hash: UInt64, _ body: (UInt32) -> Void) {
        var index = hashes.indices.partitioningIndex { hashes[$0] >= hash }
        while index < hashes.count, hashes[index] == hash {
            body(rules[index])
            index &+= 1
        }
    }

    static func hash(region: UInt16, seed: UInt64) -> UInt64 {
        var hash = ByteHash(seed: seed)
        hash.combine(region)
        return hash.value
    }

    /// Calls `body` with the hash of each language range that holds a tag but `*`; the last is that of the tag itself.
    ///
    /// The hash of a range goes on from that of the range with one subtag less, so the cost is linear in the tag's
    /// length.
    ///
    /// - Returns: The hash of the tag itself.
    @discardableResult
    static func forEachRange(of language: LanguageTag, seed: UInt64, _ body: (UInt64) -> Void) -> ByteHash {
        var hash = ByteHash(seed: seed)
        language.normalized.withBytes { tag in
            var start = 0
            for end in tag.indices where tag[end] == ASCII.hyphen {
                hash.combine(UnsafeRawBufferPointer(rebasing: tag[start..<end]))
                body(hash.value)
                start = end + 1
            }
            hash.combine(UnsafeRawBufferPointer(rebasing: tag[start...]))
            body(hash.value)
        }
        return hash
    }

    static func hash(language range: LanguageTag, seed: UInt64) -> UInt64 {
        forEachRange(of: range, seed: seed) { _ in }.value
    }

    static func hash(attribute name: UTF8Text, value: UTF8Text, seed: UInt64) -> UInt64 {
        name.string.withBytes { name in
            value.string.withBytes { value in hash(attribute: name, value: value, seed: seed) }
        }
    }

    static func hash(attribute name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var hash = ByteHash(seed: seed)
        hash.combine(name)
        hash.combine(value)
        return hash.value
    }
}

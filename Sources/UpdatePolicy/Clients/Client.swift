/// A client as a check describes it: what it wrote, beside what could be read from it.
///
/// It is built member by member with `set`; then `validate` must be called. What is missing or cannot be read is no
/// fault, it only meets fewer rules.
///
/// All texts lie in one run of bytes, which the next client uses again after ``removeAll()``. So a check is read without
/// allocating anything, and its body is copied once: a `String` for each member took twice the instructions.
package struct Client: Sendable {
    package private(set) var region: Region?
    package private(set) var language: LanguageTag?
    private(set) var versionKey: VersionKey?
    private(set) var buildKey: VersionKey?
    private(set) var osKey: VersionKey?

    /// The texts of all members, in UTF-8, and perhaps what stands between them.
    private var bytes = ByteWriter()
    /// Where among them each field is, by the number of the field; it means nothing for a field that was not sent.
    private var texts = InlineArray<16, TextRange>(repeating: .notSent)
    /// The fields that were sent with a text, a bit for each.
    private var sentFields: UInt16 = 0
    private var seenFields: UInt16 = 0
    private var otherMembers = Attributes()

    /// The most attributes; more are an error.
    package static let maximumAttributeCount = 64

    /// The install id of clients that have none: iOS gives it to apps that may not track.
    private static let zeroInstall: StaticString = "00000000-0000-0000-0000-000000000000"

    package init() {}

    // What the client wrote; `nil` where it was not sent. An install that is of no use for buckets counts as not sent.

    package var bundle: UTF8Text? { text(.bundle) }
    package var versionText: UTF8Text? { text(.version) }
    package var buildText: UTF8Text? { text(.build) }
    package var osText: UTF8Text? { text(.os) }
    package var platformText: UTF8Text? { text(.platform) }
    package var regionText: UTF8Text? { text(.region) }
    package var install: UTF8Text? { text(.install) }

    // What could be read of it.

    package var version: AppVersion? { Self.version(versionText, versionKey) }
    package var build: AppVersion? { Self.version(buildText, buildKey) }
    package var os: AppVersion? { Self.version(osText, osKey) }
    package var platform: Platform? { platformText.map { Platform($0.string) } }

    /// Whether the person asked for this check.
    var isManual: Bool { has(.manual) }

    /// Whether the client sent a version that cannot be read, so that no range and no target reaches it.
    package var hasUnreadableVersion: Bool { versionKey == nil && has(.version) }

    /// The names and values of the attributes, in the order they were set.
    package var attributes: [(name: UTF8Text, value: UTF8Text)] {
        var attributes: [(name: UTF8Text, value: UTF8Text)] = []
        forEachAttribute { name, value in attributes.append((UTF8Text(decoding: name), UTF8Text(decoding: value))) }
        return attributes
    }

    package func attribute(_ name: UTF8Text) -> UTF8Text? { withAttribute(name) { UTF8Text(decoding: $0) } }

    // MARK: Setting members

    package mutating func removeAll() {
        region = nil
        if language != nil { language = nil }
        versionKey = nil
        buildKey = nil
        osKey = nil
        bytes.removeAll()
        sentFields = 0
        seenFields = 0
        if !otherMembers.isEmpty { otherMembers.removeAll() }
    }

    /// Takes over bytes with texts in them, which members can then be set to.
    ///
    /// - Returns: Where the bytes are from now on.
    package mutating func append(_ text: UnsafeRawBufferPointer) -> Range<Int> {
        let start = bytes.count
        bytes.append(text)
        return start..<bytes.count
    }

    /// Takes over a member of the check.
    ///
    /// - Throws: `ClientError` that names the member, where it was set before, a field is of the wrong type or too long,
    ///   or it is one attribute too many.
    package mutating func set(_ name: UTF8Text, to value: MemberValue) throws(ClientError) {
        let value = value.map { text in text.string.withBytes { append($0) } }
        if let field = ClientField(name: name) {
            try set(field, to: value)
        } else {
            try setAttribute(at: name.string.withBytes { append($0) }, to: value)
        }
    }

    /// Takes over a member of a query, where booleans are texts.
    package mutating func set(_ name: UTF8Text, inQuery text: UTF8Text) throws(ClientError) {
        let range = text.string.withBytes { append($0) }
        try setMember(at: name.string.withBytes { append($0) }, inQuery: range)
    }

    /// Takes over a field.
    package mutating func set(_ field: ClientField, to value: MemberValue) throws(ClientError) {
        try set(field, to: value.map { text in text.string.withBytes { append($0) } })
    }

    /// Takes over a member by its name, which must be valid UTF-8 among the bytes that were appended.
    package mutating func setMember(at name: Range<Int>, to value: MemberRange) throws(ClientError) {
        if let field = withBytes(name, { ClientField(name: $0) }) {
            try set(field, to: value)
        } else {
            try setAttribute(at: name, to: value)
        }
    }

    /// Takes over a member of a query, where booleans are texts.
    package mutating func setMember(at name: Range<Int>, inQuery text: Range<Int>) throws(ClientError) {
        guard withBytes(name, { ClientField(name: $0) }) == .manual else {
            return try setMember(at: name, toText: text)
        }
        let value = string(at: text)
        try set(.manual, to: value == "true" || value == "false" ? .boolean(value == "true") : .text(text))
    }

    /// Takes over a member whose value is a text, as nearly every one is.
    package mutating func setMember(at name: Range<Int>, toText text: Range<Int>) throws(ClientError) {
        if let field = withBytes(name, { ClientField(name: $0) }) {
            try set(field, toText: text)
        } else {
            try setAttribute(at: name, to: .text(text))
        }
    }

    private mutating func setAttribute(at name: Range<Int>, to value: MemberRange) throws(ClientError) {
        let text: Range<Int>? =
            switch value {
            case .text(let text), .number(let text): text
            case .boolean(let boolean): (boolean ? "true" : "false").withBytes { append($0) }
            case .null, .composite: nil
            }
        guard otherMembers.append(name, text, in: bytes) else {
            throw ClientError(member: string(at: name), reason: .duplicate)
        }
        guard otherMembers.attributeCount <= Self.maximumAttributeCount else {
            throw ClientError(member: string(at: name), reason: .tooManyAttributes(maximum: Self.maximumAttributeCount))
        }
    }

    /// Takes over a field, whose value must be valid UTF-8 among the bytes that were appended.
    package mutating func set(_ field: ClientField, to value: MemberRange) throws(ClientError) {
        switch value {
        case .text(let text): try set(field, toText: text)
        case .number(let number) where field.isVersion:
            // A number with a sign or an exponent is "not sent".
            let isPlain = withBytes(number) { $0.allSatisfy { ASCII.isDigit($0) || $0 == ASCII.dot } }
            if isPlain { try set(field, toText: number) } else { try markSeen(field) }
        case .boolean(let isTrue) where field == .manual:
            try markSeen(field)
            if isTrue { setSent(field, at: "true".withBytes { append($0) }) }
        case .null: try markSeen(field)
        case .number, .boolean, .composite:
            try markSeen(field)
            throw ClientError(member: field.name, reason: .wrongType(expected: field.expectedType))
        }
    }

    private mutating func markSeen(_ field: ClientField) throws(ClientError) {
        let bit: UInt16 = 1 &<< UInt16(field.rawValue)
        guard seenFields & bit == 0 else { throw ClientError(member: field.name, reason: .duplicate) }
        seenFields |= bit
    }

    private mutating func set(_ field: ClientField, toText range: Range<Int>) throws(ClientError) {
        try markSeen(field)
        if range.isEmpty { return }
        let maximum = field.maximumLength
        if range.count > maximum {
            guard field == .bundle else { return }
            throw ClientError(member: field.name, reason: .tooLong(maximum: maximum))
        }
        switch field {
        case .bundle, .platform: break
        case .version: versionKey = versionKey(at: range)
        case .build: buildKey = versionKey(at: range)
        case .os: osKey = versionKey(at: range)
        case .region: region = withBytes(range) { Region(localeBytes: $0) }
        case .language: language = LanguageTag(string(at: range))
        case .install: if withBytes(range, Self.isZeroInstall) { return }
        case .manual: throw ClientError(member: field.name, reason: .wrongType(expected: field.expectedType))
        }
        setSent(field, at: range)
    }

    @inline(__always)
    private mutating func setSent(_ field: ClientField, at range: Range<Int>) {
        texts[Int(field.rawValue)] = TextRange(range)
        sentFields |= 1 &<< UInt16(field.rawValue)
    }

    @inline(__always)
    private func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withBytes(range, body)
    }

    private func string(at range: Range<Int>) -> String {
        withBytes(range) { String(decoding: $0, as: UTF8.self) }
    }

    @inline(__always)
    private func versionKey(at range: Range<Int>) -> VersionKey? {
        withBytes(range) { VersionScanner.key(of: $0) }
    }

    package borrowing func validate() throws(ClientError) {
        guard has(.bundle) else { throw ClientError(member: ClientField.bundle.name, reason: .missing) }
    }

    // MARK: Reading fields

    /// Calls `body` with the bytes of a field; `nil` where it was not sent.
    @inline(__always)
    borrowing func withText<Result>(_ field: ClientField, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard has(field) else { return nil }
        return bytes.withBytes(texts[Int(field.rawValue)].indices, body)
    }

    @inline(__always)
    borrowing func forEachAttribute(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
        if otherMembers.attributeCount == 0 { return }
        bytes.withBytes { otherMembers.forEach(in: $0, body) }
    }

    /// Calls `body` with the value of an attribute; `nil` where it was not sent.
    borrowing func withAttribute<Result>(_ name: UTF8Text, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard let range = name.string.withBytes({ otherMembers.value(of: $0, in: bytes) }) else { return nil }
        return bytes.withBytes(range.indices, body)
    }

    @inline(__always)
    borrowing func has(_ field: ClientField) -> Bool {
        sentFields & 1 &<< UInt16(field.rawValue) != 0
    }

    func text(_ field: ClientField) -> UTF8Text? { withText(field) { UTF8Text(decoding: $0) } }

    private static func version(_ text: UTF8Text?, _ key: VersionKey?) -> AppVersion? {
        guard let text, let key else { return nil }
        return AppVersion(text: text.string, key: key)
    }

    private static func isZeroInstall(_ install: UnsafeRawBufferPointer) -> Bool {
        install.hasSameBytes(
            as: UnsafeRawBufferPointer(start: zeroInstall.utf8Start, count: zeroInstall.utf8CodeUnitCount)
        )
    }
}

struct TextRange: Sendable, Equatable {
    private let start: Int32
    private let end: Int32
    static let notSent = TextRange(-1..<(-1))

    @inline(__always)
    init(_ range: Range<Int>) {
        start = Int32(truncatingIfNeeded: range.lowerBound)
        end = Int32(truncatingIfNeeded: range.upperBound)
    }

    @inline(__always)
    var indices: Range<Int> { Range(uncheckedBounds: (Int(start), Int(end))) }
}

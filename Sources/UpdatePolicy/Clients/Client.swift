// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A client as a check describes it: what it wrote, beside what could be read from it.
///
/// It is built member by member with `set`; then `validate` must be called. What is missing or cannot be read is no
/// fault, it only meets fewer rules.
///
/// All texts lie in one run of bytes, which the next client uses again after ``removeAll()``: to read a usual check
/// allocates nothing, and takes a third of the instructions that a `String` for each member would.
public struct Client: Sendable {
    /// The country that could be read.
    public private(set) var region: Region?

    /// The language; `nil` where it was not sent.
    public private(set) var language: LanguageTag?

    private(set) var versionKey: VersionKey?
    private(set) var buildKey: VersionKey?
    private(set) var osKey: VersionKey?

    /// The texts of the fields one after the other, in UTF-8.
    private var bytes: [UInt8] = []
    /// Where among them each field is, by the number of the field.
    private var texts = InlineArray<8, TextRange>(repeating: .notSent)
    private var seenFields: UInt8 = 0
    private var otherMembers = Attributes()

    /// The most bytes a bundle may have; a longer one is an error.
    public static let maximumBundleLength = 255

    /// The most bytes a language, region or platform may have; a longer one counts as not sent.
    public static let maximumTagLength = 64

    /// The most bytes an install id may have; a longer one counts as not sent.
    public static let maximumInstallLength = 128

    /// The most attributes; more are an error.
    public static let maximumAttributeCount = 64

    /// The most bytes the name of an attribute may have; an attribute with a longer one counts as not sent.
    public static let maximumAttributeNameLength = 128

    /// The most bytes the value of an attribute may have; an attribute with a longer one counts as not sent.
    public static let maximumAttributeValueLength = 1_024

    /// The install id of clients that have none: iOS gives it to apps that may not track.
    private static let zeroInstall: StaticString = "00000000-0000-0000-0000-000000000000"

    /// A client of which nothing is known yet.
    public init() {}

    /// The app's bundle or package identifier, as the client wrote it; `nil` before it was set.
    public var bundle: UTF8Text? { text(.bundle) }

    /// The app's version as the client wrote it; `nil` where it was not sent.
    public var versionText: UTF8Text? { text(.version) }

    /// The build as the client wrote it; `nil` where it was not sent.
    public var buildText: UTF8Text? { text(.build) }

    /// The version of the operating system as the client wrote it; `nil` where it was not sent.
    public var osText: UTF8Text? { text(.os) }

    /// The platform as the client wrote it; `nil` where it was not sent.
    public var platformText: UTF8Text? { text(.platform) }

    /// The country or locale as the client wrote it; `nil` where it was not sent.
    public var regionText: UTF8Text? { text(.region) }

    /// The id of the installation; `nil` where it was not sent or is of no use for buckets.
    public var install: UTF8Text? { text(.install) }

    /// The version that could be read.
    public var version: AppVersion? { Self.version(versionText, versionKey) }

    /// Whether the client sent a version that cannot be read, so that no range and no target reaches it.
    public var hasUnreadableVersion: Bool { versionKey == nil && has(.version) }

    /// The build that could be read.
    public var build: AppVersion? { Self.version(buildText, buildKey) }

    /// The version of the operating system that could be read.
    public var os: AppVersion? { Self.version(osText, osKey) }

    /// The platform.
    public var platform: Platform? { platformText.map { Platform($0.string) } }

    /// The names and values of the attributes, in the order they were set.
    public var attributes: [(name: UTF8Text, value: UTF8Text)] {
        var attributes: [(name: UTF8Text, value: UTF8Text)] = []
        otherMembers.forEach { name, value in attributes.append((UTF8Text(decoding: name), UTF8Text(decoding: value))) }
        return attributes
    }

    /// The value of an attribute; `nil` where it was not sent.
    public func attribute(_ name: UTF8Text) -> UTF8Text? {
        otherMembers.withValue(of: name) { UTF8Text(decoding: $0) }
    }

    // MARK: Setting members

    /// Forgets everything, and keeps the memory for the next client.
    package mutating func removeAll() {
        region = nil
        if language != nil { language = nil }
        versionKey = nil
        buildKey = nil
        osKey = nil
        bytes.removeAll(keepingCapacity: true)
        texts = InlineArray(repeating: .notSent)
        seenFields = 0
        otherMembers.removeAll()
    }

    /// Takes over a member of the check.
    ///
    /// - Throws: `ClientError` that names the member, where it was set before, a field is of the wrong type or too long,
    ///   or it is one attribute too many.
    public mutating func set(_ name: UTF8Text, to value: MemberValue) throws(ClientError) {
        if let field = ClientField(name: name) {
            try set(field, to: value)
        } else {
            try value.withBytes { (value) throws(ClientError) in
                try name.withBytes { (name) throws(ClientError) in try setAttribute(name, to: value) }
            }
        }
    }

    /// Takes over a member of the check that has a meaning of its own.
    ///
    /// - Throws: `ClientError` that names the member, where it was set before, is of the wrong type, or is a bundle that
    ///   is too long.
    public mutating func set(_ field: ClientField, to value: MemberValue) throws(ClientError) {
        try value.withBytes { (value) throws(ClientError) in try set(field, to: value) }
    }

    /// Takes over a member that has no meaning of its own.
    ///
    /// - Throws: `ClientError` that names the member, where it was set before or is one attribute too many.
    package mutating func setAttribute(_ name: UnsafeRawBufferPointer, to value: MemberBytes) throws(ClientError) {
        guard otherMembers.append(name, value) else {
            throw ClientError(member: String(decoding: name, as: UTF8.self), reason: .duplicate)
        }
        guard otherMembers.attributeCount <= Self.maximumAttributeCount else {
            throw ClientError(
                member: String(decoding: name, as: UTF8.self),
                reason: .tooManyAttributes(maximum: Self.maximumAttributeCount)
            )
        }
    }

    /// Takes over a field.
    ///
    /// - Throws: as ``set(_:to:)-(ClientField,MemberValue)`` does.
    package mutating func set(_ field: ClientField, to value: MemberBytes) throws(ClientError) {
        let bit: UInt8 = 1 << field.rawValue
        guard seenFields & bit == 0 else { throw ClientError(member: field.name, reason: .duplicate) }
        seenFields |= bit
        guard let text = try Self.text(value, field) else { return }
        switch field {
        case .bundle:
            guard text.count <= Self.maximumBundleLength else {
                throw ClientError(member: field.name, reason: .tooLong(maximum: Self.maximumBundleLength))
            }
        case .platform, .region, .language:
            guard text.count <= Self.maximumTagLength else { return }
            if field == .region { region = Region(localeBytes: text) }
            if field == .language { language = LanguageTag(String(decoding: text, as: UTF8.self)) }
        case .install:
            guard Self.isUsable(install: text) else { return }
        case .version: versionKey = VersionScanner.key(of: text)
        case .build: buildKey = VersionScanner.key(of: text)
        case .os: osKey = VersionScanner.key(of: text)
        }
        let start = bytes.count
        bytes.append(contentsOf: text)
        texts[Int(field.rawValue)] = TextRange(start: start, end: bytes.count)
    }

    /// Checks that everything required was set.
    ///
    /// - Throws: `ClientError.missingBundle`.
    public func validate() throws(ClientError) {
        guard has(.bundle) else { throw .missingBundle }
    }

    // MARK: Reading fields

    /// Calls `body` with the bytes of a field; `nil` where it was not sent.
    @inline(__always)
    borrowing func withText<Result>(_ field: ClientField, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let range = texts[Int(field.rawValue)]
        if range == .notSent { return nil }
        return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range.indices])) }
    }

    /// Calls `body` with the name and value of each attribute.
    @inline(__always)
    borrowing func forEachAttribute(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
        otherMembers.forEach(body)
    }

    /// Calls `body` with the value of an attribute; `nil` where it was not sent.
    borrowing func withAttribute<Result>(
        _ name: UTF8Text,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        otherMembers.withValue(of: name, body)
    }

    private borrowing func has(_ field: ClientField) -> Bool {
        texts[Int(field.rawValue)] != .notSent
    }

    private func text(_ field: ClientField) -> UTF8Text? {
        withText(field) { UTF8Text(decoding: $0) }
    }

    /// The text of a field; `null` and the empty string are "not sent", and so is a number with a sign or an exponent.
    @inline(__always)
    private static func text(_ value: MemberBytes, _ field: ClientField) throws(ClientError) -> UnsafeRawBufferPointer?
    {
        switch value {
        case .text(let text): return text.isEmpty ? nil : text
        case .null: return nil
        case .number(let number) where field.isVersion:
            return number.allSatisfy { ASCII.isDigit($0) || $0 == ASCII.dot } ? number : nil
        case .number, .boolean, .composite:
            throw ClientError(member: field.name, reason: .wrongType(expected: field.expectedType))
        }
    }

    private static func version(_ text: UTF8Text?, _ key: VersionKey?) -> AppVersion? {
        guard let text, let key else { return nil }
        return AppVersion(text: text.string, key: key)
    }

    private static func isUsable(install: UnsafeRawBufferPointer) -> Bool {
        let zero = UnsafeRawBufferPointer(start: zeroInstall.utf8Start, count: zeroInstall.utf8CodeUnitCount)
        return install.count <= maximumInstallLength && !install.hasSameBytes(as: zero)
    }
}

/// Where a text lies in a run of bytes.
struct TextRange: Sendable, Equatable {
    private let start: Int32
    private let end: Int32

    /// The range of a text that was not sent.
    static let notSent = TextRange(start: -1, end: -1)

    init(start: Int, end: Int) {
        self.start = Int32(truncatingIfNeeded: start)
        self.end = Int32(truncatingIfNeeded: end)
    }

    /// The indices of its bytes.
    @inline(__always)
    var indices: Range<Int> { Range(uncheckedBounds: (Int(start), Int(end))) }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A client as a check describes it: what it wrote, beside what could be read from it.
///
/// It is built member by member with `set`; then `validate` must be called. What is missing or cannot be read is no
/// fault, it only meets fewer rules.
public struct Client: Sendable {
    /// The app's bundle or package identifier, as the client wrote it; `nil` before it was set.
    public private(set) var bundle: UTF8Text?

    /// The app's version as the client wrote it; `nil` where it was not sent.
    public private(set) var versionText: UTF8Text?

    /// The build as the client wrote it; `nil` where it was not sent.
    public private(set) var buildText: UTF8Text?

    /// The version of the operating system as the client wrote it; `nil` where it was not sent.
    public private(set) var osText: UTF8Text?

    /// The platform as the client wrote it; `nil` where it was not sent.
    public private(set) var platformText: UTF8Text?

    /// The country or locale as the client wrote it; `nil` where it was not sent.
    public private(set) var regionText: UTF8Text?

    /// The country that could be read.
    public private(set) var region: Region?

    /// The language; `nil` where it was not sent.
    public private(set) var language: LanguageTag?

    /// The id of the installation; `nil` where it was not sent or is of no use for buckets.
    public private(set) var install: UTF8Text?

    private(set) var versionKey: VersionKey?
    private(set) var buildKey: VersionKey?
    private(set) var osKey: VersionKey?
    private var seenMembers: UInt8 = 0
    private var otherMembers = OtherMembers()

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
    private static let zeroInstall: UTF8Text = "00000000-0000-0000-0000-000000000000"

    /// A client of which nothing is known yet.
    public init() {}

    /// The version that could be read.
    public var version: AppVersion? { Self.version(versionText, versionKey) }

    /// Whether the client sent a version that cannot be read, so that no range and no target reaches it.
    public var hasUnreadableVersion: Bool { versionText != nil && versionKey == nil }

    /// The build that could be read.
    public var build: AppVersion? { Self.version(buildText, buildKey) }

    /// The version of the operating system that could be read.
    public var os: AppVersion? { Self.version(osText, osKey) }

    /// The platform.
    public var platform: Platform? { platformText.map { Platform($0.string) } }

    /// The names and values of the attributes, in the order they were set.
    public var attributes: [(name: UTF8Text, value: UTF8Text)] { otherMembers.attributes }

    /// The value of an attribute; `nil` where it was not sent.
    public func attribute(_ name: UTF8Text) -> UTF8Text? {
        otherMembers.value(name)
    }

    /// Calls `body` with the name and value of each attribute.
    @inline(__always)
    func forEachAttribute(_ body: (UTF8Text, UTF8Text) -> Void) {
        otherMembers.forEachAttribute(body)
    }

    /// Takes over a member of the check.
    ///
    /// - Throws: `ClientError` that names the member, where it was set before, a known one is of the wrong type or too
    ///   long, or it is one attribute too many.
    public mutating func set(_ name: UTF8Text, to value: MemberValue) throws(ClientError) {
        if let member = KnownMember(name: name) {
            try set(member, to: value)
        } else {
            guard otherMembers.append(name, value) else { throw ClientError(member: name.string, reason: .duplicate) }
            guard otherMembers.attributeCount <= Self.maximumAttributeCount else {
                throw ClientError(
                    member: name.string,
                    reason: .tooManyAttributes(maximum: Self.maximumAttributeCount)
                )
            }
        }
    }

    /// Takes over a member of the check that has a meaning of its own.
    ///
    /// - Throws: `ClientError` that names the member, where it was set before, is of the wrong type, or is a bundle that
    ///   is too long.
    public mutating func set(_ member: KnownMember, to value: MemberValue) throws(ClientError) {
        let bit: UInt8 = 1 << member.rawValue
        guard seenMembers & bit == 0 else { throw ClientError(member: member.name, reason: .duplicate) }
        seenMembers |= bit
        switch member {
        case .bundle:
            bundle = try Self.text(value, member)
            guard bundle.map({ $0.string.utf8.count <= Self.maximumBundleLength }) ?? true else {
                throw ClientError(member: member.name, reason: .tooLong(maximum: Self.maximumBundleLength))
            }
        case .platform: platformText = try Self.tag(value, member)
        case .region:
            regionText = try Self.tag(value, member)
            region = regionText.flatMap { Region(locale: $0.string) }
        case .language:
            language = try Self.tag(value, member).map { LanguageTag($0.string) }
        case .install:
            install = try Self.text(value, member).flatMap { Self.isUsable($0) ? $0 : nil }
        case .version:
            versionText = try Self.versionText(value, member)
            versionKey = Self.key(versionText)
        case .build:
            buildText = try Self.versionText(value, member)
            buildKey = Self.key(buildText)
        case .os:
            osText = try Self.versionText(value, member)
            osKey = Self.key(osText)
        }
    }

    /// Checks that everything required was set.
    ///
    /// - Throws: `ClientError.missingBundle`.
    public func validate() throws(ClientError) {
        guard bundle != nil else { throw .missingBundle }
    }

    /// Reads a known member that is a string; `null` and the empty string are "not sent".
    private static func text(_ value: MemberValue, _ member: KnownMember) throws(ClientError) -> UTF8Text? {
        switch value {
        case .text(let text): return text.isEmpty ? nil : text
        case .null: return nil
        case .number, .boolean, .composite:
            throw ClientError(member: member.name, reason: .wrongType(expected: member.expectedType))
        }
    }

    /// Reads a known member that is a language, region or platform; one that is too long is "not sent" as well.
    private static func tag(_ value: MemberValue, _ member: KnownMember) throws(ClientError) -> UTF8Text? {
        try text(value, member).flatMap { $0.string.utf8.count <= maximumTagLength ? $0 : nil }
    }

    /// Reads a known member that is a version; a number with a sign or an exponent is "not sent" as well.
    private static func versionText(_ value: MemberValue, _ member: KnownMember) throws(ClientError) -> UTF8Text? {
        if case .number(let number) = value {
            return number.string.utf8.allSatisfy { ASCII.isDigit($0) || $0 == ASCII.dot } ? number : nil
        }
        return try text(value, member)
    }

    private static func key(_ text: UTF8Text?) -> VersionKey? {
        text.flatMap { $0.string.withBytes(VersionScanner.key(of:)) }
    }

    private static func version(_ text: UTF8Text?, _ key: VersionKey?) -> AppVersion? {
        guard let text, let key else { return nil }
        return AppVersion(text: text.string, key: key)
    }

    private static func isUsable(_ install: UTF8Text) -> Bool {
        install.string.utf8.count <= maximumInstallLength && install != zeroInstall
    }
}

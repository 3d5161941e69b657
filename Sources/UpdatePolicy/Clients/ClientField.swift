/// A member of a check that has a meaning of its own; every other one is an attribute. A client has room for 16.
package enum ClientField: UInt8, Sendable, CaseIterable {
    case bundle
    case version
    case build
    case platform
    case region
    case os
    case language
    case install
    case manual

    package var name: String { "\(staticName)" }

    private var staticName: StaticString {
        switch self {
        case .bundle: "bundle"
        case .version: "version"
        case .build: "build"
        case .platform: "platform"
        case .region: "region"
        case .os: "os"
        case .language: "language"
        case .install: "install"
        case .manual: "manual"
        }
    }

    package init?(name: UTF8Text) {
        guard let field = name.string.withBytes({ ClientField(name: $0) }) else { return nil }
        self = field
    }

    package init?(name bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return nil }
        let field: ClientField? =
            switch (bytes.count, first) {
            case (2, UInt8(ascii: "o")): Self.os.named(bytes)
            case (5, UInt8(ascii: "b")): Self.build.named(bytes)
            case (6, UInt8(ascii: "b")): Self.bundle.named(bytes)
            case (6, UInt8(ascii: "r")): Self.region.named(bytes)
            case (6, UInt8(ascii: "m")): Self.manual.named(bytes)
            case (7, UInt8(ascii: "v")): Self.version.named(bytes)
            case (7, UInt8(ascii: "i")): Self.install.named(bytes)
            case (8, UInt8(ascii: "p")): Self.platform.named(bytes)
            case (8, UInt8(ascii: "l")): Self.language.named(bytes)
            default: nil
            }
        guard let field else { return nil }
        self = field
    }

    @inline(__always)
    private func named(_ bytes: UnsafeRawBufferPointer) -> ClientField? {
        let name = staticName
        return UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount).hasSameBytes(as: bytes)
            ? self : nil
    }

    /// Whether the value is a version, which may be a number as well.
    var isVersion: Bool {
        switch self {
        case .version, .build, .os: true
        case .bundle, .platform, .region, .language, .install, .manual: false
        }
    }

    /// The most bytes that a value may have; a bundle with more is an error, another field with more counts as not sent.
    var maximumLength: Int {
        switch self {
        case .bundle: 255
        case .platform, .region, .language: 64
        case .install: 128
        case .version, .build, .os, .manual: .max
        }
    }

    var expectedType: String { self == .manual ? "true or false" : isVersion ? "a string or a number" : "a string" }
}

/// The value of a member of a check, as the request has it.
package enum Member<Text: Sendable & Hashable>: Sendable, Hashable {
    case text(Text)
    /// A number, in the characters it was written with: `1.10` is not 1.1.
    case number(Text)
    case boolean(Bool)
    /// The member was not sent.
    case null
    case composite

    @inline(__always)
    func map<Other>(_ transform: (Text) -> Other) -> Member<Other> {
        switch self {
        case .text(let text): .text(transform(text))
        case .number(let number): .number(transform(number))
        case .boolean(let boolean): .boolean(boolean)
        case .null: .null
        case .composite: .composite
        }
    }
}

package typealias MemberValue = Member<UTF8Text>

/// A value whose text lies among the bytes that were appended to the client.
package typealias MemberRange = Member<Range<Int>>

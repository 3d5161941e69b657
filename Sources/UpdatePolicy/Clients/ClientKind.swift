/// What of a client is counted: its app and five members, none of which tells two installations apart.
///
/// While checks are counted a kind is a run of bytes, the six texts in the order below with a zero byte behind each, an
/// empty text for one that is missing. No text holds a zero byte, so equal bytes are equal kinds.
package struct ClientKind: Sendable, Hashable, Decodable {
    package let bundle: String

    /// The platform, as rules name it; `nil` where it was not sent or cannot be the name of one.
    ///
    /// A name is 1 to 32 lower-case ASCII letters, digits, `_` and `-`.
    package internal(set) var platform: String?

    /// The version as the client wrote it, without blanks at its ends; `nil` where it was not sent.
    ///
    /// One that cannot be read is kept as well, so that people can see what their apps send: other characters than
    /// printable ASCII as `\u{a0}`, and cut where that is longer than 64 bytes. It is `unkeptVersion` where it is nothing
    /// but blanks, or what is kept could be read.
    package internal(set) var version: String?

    /// The build as the client wrote it, without blanks at its ends; `nil` where it was not sent, cannot be read, or has
    /// more than 32 bytes.
    package internal(set) var build: String?

    /// The country, two upper-case letters; `nil` where none could be read.
    package internal(set) var region: String?

    package internal(set) var os: String?

    /// What stands for a version that cannot be read and is not kept.
    package static let unkeptVersion = "?"

    /// The most bytes of a version that is kept although it cannot be read.
    static let maximumUnreadableVersionLength = 64

    static let maximumPlatformLength = 32

    /// The most bytes of a build, and of the version of an operating system.
    static let maximumNumberLength = 32

    /// The kind as bytes, as `Client.writeKind(ofApp:to:)` writes it.
    package var bytes: [UInt8] {
        [bundle, platform, version, build, region, os].flatMap { Array(($0 ?? "").utf8) + [0] }
    }
}

extension ClientKind {
    package init(bytes: some Collection<UInt8>) {
        let texts = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        precondition(texts.count == 7 && texts[6].isEmpty, "a kind is six texts")
        let members = texts.map { $0.isEmpty ? nil : $0 }
        self.init(
            bundle: texts[0], platform: members[1], version: members[2], build: members[3], region: members[4],
            os: members[5]
        )
    }
}

extension Client {
    /// Writes the kind of this client as bytes, as `ClientKind` tells, in place of what was written.
    ///
    /// - Parameter bundle: The app's bundle as the policy spells it.
    package borrowing func writeKind(ofApp bundle: String, to bytes: inout ByteWriter) {
        bytes.removeAll()
        bundle.withBytes { Self.write($0, to: &bytes) }
        withText(.platform) { Self.writePlatform($0, to: &bytes) } ?? Self.write(nil, to: &bytes)
        if hasUnreadableVersion {
            _ = withText(.version) { Self.writeUnreadable($0, to: &bytes) }
        } else {
            writeVersion(.version, versionKey, upTo: VersionScanner.maximumLength, to: &bytes)
        }
        writeVersion(.build, buildKey, upTo: ClientKind.maximumNumberLength, to: &bytes)
        if let region {
            withUnsafeBytes(of: region.letters.bigEndian) { Self.write($0, to: &bytes) }
        } else {
            Self.write(nil, to: &bytes)
        }
        writeVersion(.os, osKey, upTo: ClientKind.maximumNumberLength, to: &bytes)
    }

    /// Writes a text, or none, and the zero byte behind it.
    @inline(__always)
    private static func write(_ text: UnsafeRawBufferPointer?, to bytes: inout ByteWriter) {
        bytes.append(text ?? UnsafeRawBufferPointer(start: nil, count: 0), endingWith: 0)
    }

    /// Writes the coarse kind of a client of whom nothing but the app, the platform and the release is counted, in place
    /// of its kind.
    ///
    /// - Parameter version: The version as the release spells it.
    package static func writeCoarseKind(ofVersion version: String, to bytes: inout ByteWriter) {
        let end = bytes.withBytes { kind in
            kind.firstIndex(of: 0).flatMap { kind[($0 + 1)...].firstIndex(of: 0) } ?? 0
        }
        bytes.removeLast(bytes.count - end - 1)
        version.withBytes { write($0, to: &bytes) }
        for _ in 0..<3 { write(nil, to: &bytes) }
    }

    /// Writes a version without the blanks at its ends; nothing where it cannot be read, or is longer than that.
    @inline(__always)
    private borrowing func writeVersion(
        _ field: ClientField,
        _ key: VersionKey?,
        upTo maximumLength: Int,
        to bytes: inout ByteWriter
    ) {
        guard key != nil else { return Self.write(nil, to: &bytes) }
        _ = withText(field) { text in
            let version = VersionScanner.withoutBlanks(text)
            Self.write(version.count <= maximumLength ? version : nil, to: &bytes)
        }
    }

    /// Writes a version that cannot be read as people can read it, or the sign for one that is not kept.
    private static func writeUnreadable(_ text: UnsafeRawBufferPointer, to bytes: inout ByteWriter) {
        var kept = ""
        var iterator = VersionScanner.withoutBlanks(text).makeIterator()
        var decoder = Unicode.UTF8.ForwardParser()
        while case .valid(let encoded) = decoder.parseScalar(from: &iterator) {
            let scalar = Unicode.UTF8.decode(encoded)
            let isPrintable = (0x20...0x7E).contains(scalar.value)
            let shown = isPrintable ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            guard kept.utf8.count + shown.utf8.count <= ClientKind.maximumUnreadableVersionLength else {
                kept = String(kept.prefix(ClientKind.maximumUnreadableVersionLength - 3)) + "..."
                break
            }
            kept += shown
        }
        // In parentheses stands anything: 1.2 (\u{e9}) is 1.2.
        let isKept = !kept.isEmpty && (kept.last != ")" || AppVersion(kept) == nil)
        (isKept ? kept : ClientKind.unkeptVersion).withBytes { write($0, to: &bytes) }
    }

    /// Writes the name that rules know the platform by; nothing where the text cannot be a platform's name.
    @inline(__always)
    private static func writePlatform(_ name: UnsafeRawBufferPointer, to bytes: inout ByteWriter) {
        guard name.count <= ClientKind.maximumPlatformLength else { return write(nil, to: &bytes) }
        if ASCII.lowercased(name.first ?? 0) == UInt8(ascii: "i"), name.count > 3, isOtherNameOfIOS(name) {
            return "ios".withBytes { write($0, to: &bytes) }
        }
        withUnsafeTemporaryAllocation(byteCount: name.count, alignment: 1) { lowercased in
            var isName = true
            for offset in 0..<name.count {
                lowercased[offset] = ASCII.lowercased(name[offset])
                isName = isName && isPartOfPlatformName(lowercased[offset])
            }
            write(isName ? UnsafeRawBufferPointer(lowercased) : nil, to: &bytes)
        }
    }

    @inline(__always)
    private static func isPartOfPlatformName(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || ASCII.isDigit(byte) || byte == ASCII.hyphen || byte == UInt8(ascii: "_")
    }

    private static func isOtherNameOfIOS(_ name: UnsafeRawBufferPointer) -> Bool {
        let name = ASCII.lowercased(String(decoding: name, as: UTF8.self))
        return Platform.otherNamesOfIOS.contains(name)
    }
}

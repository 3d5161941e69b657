/// What of a client is counted: its app and five members, none of which tells two installations apart.
///
/// While checks are counted a kind is a run of bytes, the six texts in the order below with a zero byte between them,
/// an empty text for one that is missing. No text holds a zero byte, so equal bytes are equal kinds.
package struct ClientKind: Sendable, Hashable, Decodable {
    package let bundle: String

    /// The platform, as rules name it; `nil` where it was not sent or cannot be the name of one.
    ///
    /// A name is 1 to 32 lower-case ASCII letters, digits, `_` and `-`.
    package let platform: String?

    /// The version as the client wrote it, without blanks at its ends; `nil` where it was not sent.
    ///
    /// One that cannot be read is kept as well, so that people can see what their apps send: other characters than
    /// printable ASCII as `\u{a0}`, and cut where that is longer than 64 bytes. It is `unkeptVersion` where it is nothing
    /// but blanks, or what is kept could be read.
    package let version: String?

    /// The build as the client wrote it, without blanks at its ends; `nil` where it was not sent, cannot be read, or has
    /// more than 32 bytes.
    package let build: String?

    /// The country, two upper-case letters; `nil` where none could be read.
    package let region: String?

    package let os: String?

    /// What stands for a version that cannot be read and is not kept.
    package static let unkeptVersion = "?"

    /// The most bytes of a version that is kept although it cannot be read.
    static let maximumUnreadableVersionLength = 64

    static let maximumPlatformLength = 32

    /// The most bytes of a build, and of the version of an operating system.
    static let maximumNumberLength = 32

    /// What stands between two texts.
    static var end: StaticString { "\0" }

    /// The kind as bytes, as `Client.writeKind(ofApp:to:)` writes it.
    package var bytes: [UInt8] {
        Array([bundle, platform, version, build, region, os].map { $0 ?? "" }.joined(separator: "\0").utf8)
    }

    package init(
        bundle: String,
        platform: String? = nil,
        version: String? = nil,
        build: String? = nil,
        region: String? = nil,
        os: String? = nil
    ) {
        self.bundle = bundle
        self.platform = platform
        self.version = version
        self.build = build
        self.region = region
        self.os = os
    }

    package init(bytes: some Collection<UInt8>) {
        let texts = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        precondition(texts.count == 6, "a kind is six texts")
        let members = texts.map { $0.isEmpty ? nil : $0 }
        bundle = texts[0]
        platform = members[1]
        version = members[2]
        build = members[3]
        region = members[4]
        os = members[5]
    }
}

extension Client {
    /// Writes the kind of this client as bytes, as `ClientKind` tells, in place of what was written.
    ///
    /// - Parameter bundle: The app's bundle as the policy spells it.
    package borrowing func writeKind(ofApp bundle: String, to bytes: inout ByteWriter) {
        bytes.removeAll()
        bytes.append(text: bundle)
        bytes.append(ClientKind.end)
        _ = withText(.platform) { Self.writePlatform($0, to: &bytes) }
        bytes.append(ClientKind.end)
        if versionKey != nil {
            writeVersion(.version, upTo: VersionScanner.maximumLength, to: &bytes)
        } else {
            _ = withText(.version) { Self.writeUnreadable($0, to: &bytes) }
        }
        bytes.append(ClientKind.end)
        if buildKey != nil { writeVersion(.build, upTo: ClientKind.maximumNumberLength, to: &bytes) }
        bytes.append(ClientKind.end)
        if let region { withUnsafeBytes(of: region.letters.bigEndian) { bytes.append($0) } }
        bytes.append(ClientKind.end)
        if osKey != nil { writeVersion(.os, upTo: ClientKind.maximumNumberLength, to: &bytes) }
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
        bytes.append(text: version)
        for _ in 0..<3 { bytes.append(ClientKind.end) }
    }

    /// Writes a version without the blanks at its ends; nothing where it is longer than that.
    @inline(__always)
    private borrowing func writeVersion(_ field: ClientField, upTo maximumLength: Int, to bytes: inout ByteWriter) {
        _ = withText(field) { text in
            let version = VersionScanner.withoutBlanks(text)
            if version.count <= maximumLength { bytes.append(version) }
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
        bytes.append(text: isKept ? kept : ClientKind.unkeptVersion)
    }

    /// Writes the name that rules know the platform by; nothing where the text cannot be a platform's name.
    @inline(__always)
    private static func writePlatform(_ name: UnsafeRawBufferPointer, to bytes: inout ByteWriter) {
        guard name.count <= ClientKind.maximumPlatformLength else { return }
        if ASCII.lowercased(name.first ?? 0) == UInt8(ascii: "i"), name.count > 3, isOtherNameOfIOS(name) {
            return bytes.append("ios")
        }
        withUnsafeTemporaryAllocation(byteCount: name.count, alignment: 1) { lowercased in
            var isName = true
            for offset in 0..<name.count {
                lowercased[offset] = ASCII.lowercased(name[offset])
                isName = isName && isPartOfPlatformName(lowercased[offset])
            }
            if isName { bytes.append(UnsafeRawBufferPointer(lowercased)) }
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

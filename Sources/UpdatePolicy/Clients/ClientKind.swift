/// What of a client is counted: its app and five members, none of which tells two installations apart.
///
/// While checks are counted a kind is a run of bytes, the six texts in the order below with a zero byte between them,
/// an empty text for one that is missing. No text holds a zero byte, so equal bytes are equal kinds.
package struct ClientKind: Sendable, Hashable, Decodable {
    /// The app's bundle as the policy spells it.
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

    /// The version of the operating system, as the build.
    package let os: String?

    /// What stands for a version that cannot be read and is not kept.
    package static let unkeptVersion = "?"

    /// The most bytes of a version that is kept although it cannot be read.
    static let maximumUnreadableVersionLength = 64

    /// The most bytes of a platform's name.
    static let maximumPlatformLength = 32

    /// The most bytes of a build, and of the version of an operating system.
    static let maximumNumberLength = 32

    /// Room for everything behind the bundle: five zero bytes, a platform, a version, a region, a build and a system.
    static let maximumLengthOfMembers =
        5 + maximumPlatformLength + VersionScanner.maximumLength + 2 + 2 * maximumNumberLength

    /// The kind as bytes, as `Client.writeKind(ofApp:into:)` writes it.
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

    /// Reads what `Client.writeKind(ofApp:into:)` wrote.
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
    /// Writes the kind of this client as bytes, as `ClientKind` tells, to the beginning of `bytes`, which grow if need be.
    ///
    /// Nothing is allocated while `bytes` have room.
    ///
    /// - Parameter bundle: The app's bundle as the policy spells it.
    /// - Returns: How many bytes the kind has.
    package borrowing func writeKind(ofApp bundle: String, into bytes: inout [UInt8]) -> Int {
        let room = bundle.utf8.count + ClientKind.maximumLengthOfMembers
        if bytes.count < room { bytes = [UInt8](repeating: 0, count: room) }
        return bytes.withUnsafeMutableBytes { bytes in
            var end = bundle.withBytes { Self.copy($0, to: bytes, at: 0) }
            end = Self.close(bytes, at: end)
            end = withText(.platform) { Self.writePlatform($0, to: bytes, at: end) } ?? end
            end = Self.close(bytes, at: end)
            let isReadable = versionKey != nil
            end =
                withText(.version) { version in
                    isReadable
                        ? Self.writeVersion(version, upTo: VersionScanner.maximumLength, to: bytes, at: end)
                        : Self.writeUnreadable(version, to: bytes, at: end)
                } ?? end
            end = Self.close(bytes, at: end)
            if buildKey != nil { end = writeNumber(.build, to: bytes, at: end) }
            end = Self.close(bytes, at: end)
            if let region {
                bytes[end] = UInt8(region.letters >> 8)
                bytes[end &+ 1] = UInt8(truncatingIfNeeded: region.letters)
                end &+= 2
            }
            end = Self.close(bytes, at: end)
            if osKey != nil { end = writeNumber(.os, to: bytes, at: end) }
            return end
        }
    }

    /// Writes the coarse kind of a client of whom nothing but the app, the platform and the release is counted, in place
    /// of its kind.
    ///
    /// - Parameters:
    ///   - version: The version as the release spells it.
    ///   - bytes: What ``writeKind(ofApp:into:)`` wrote, which leaves room enough.
    /// - Returns: How many bytes the coarse kind has.
    package static func writeCoarseKind(ofVersion version: String, in bytes: inout [UInt8]) -> Int {
        bytes.withUnsafeMutableBytes { bytes in
            var end = 0
            for _ in 0..<2 {
                while bytes[end] != 0 { end &+= 1 }
                end &+= 1
            }
            end = version.withBytes { copy($0, to: bytes, at: end) }
            for _ in 0..<3 { end = close(bytes, at: end) }
            return end
        }
    }

    @inline(__always)
    private static func close(_ bytes: UnsafeMutableRawBufferPointer, at end: Int) -> Int {
        bytes[end] = 0
        return end &+ 1
    }

    @inline(__always)
    private static func copy(
        _ text: UnsafeRawBufferPointer,
        to bytes: UnsafeMutableRawBufferPointer,
        at start: Int
    ) -> Int {
        UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(from: text)
        return start &+ text.count
    }

    @inline(__always)
    private borrowing func writeNumber(
        _ field: ClientField, to bytes: UnsafeMutableRawBufferPointer, at start: Int
    ) -> Int {
        withText(field) {
            Self.writeVersion($0, upTo: ClientKind.maximumNumberLength, to: bytes, at: start)
        } ?? start
    }

    /// Writes a version without the blanks at its ends; nothing where it is longer than that.
    @inline(__always)
    private static func writeVersion(
        _ text: UnsafeRawBufferPointer,
        upTo maximumLength: Int,
        to bytes: UnsafeMutableRawBufferPointer,
        at start: Int
    ) -> Int {
        let version = VersionScanner.withoutBlanks(text)
        return version.count <= maximumLength ? copy(version, to: bytes, at: start) : start
    }

    /// Writes a version that cannot be read as people can read it, or the sign for one that is not kept.
    private static func writeUnreadable(
        _ text: UnsafeRawBufferPointer,
        to bytes: UnsafeMutableRawBufferPointer,
        at start: Int
    ) -> Int {
        let version = VersionScanner.withoutBlanks(text)
        let last = start &+ ClientKind.maximumUnreadableVersionLength
        var end = start
        var iterator = version.makeIterator()
        var decoder = Unicode.UTF8.ForwardParser()
        while case .valid(let encoded) = decoder.parseScalar(from: &iterator) {
            let scalar = Unicode.UTF8.decode(encoded)
            let isPrintable = (0x20...0x7E).contains(scalar.value)
            let shown = isPrintable ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            guard end &+ shown.utf8.count <= last else {
                end = "...".withBytes { copy($0, to: bytes, at: min(end, last &- 3)) }
                break
            }
            end = shown.withBytes { copy($0, to: bytes, at: end) }
        }
        let kept = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        // In parentheses stands anything: 1.2 (\u{e9}) is 1.2.
        let isKept =
            !kept.isEmpty
            && (kept.last != UInt8(ascii: ")") || AppVersion(String(decoding: kept, as: UTF8.self)) == nil)
        return isKept ? end : ClientKind.unkeptVersion.withBytes { copy($0, to: bytes, at: start) }
    }

    /// Writes the name that rules know the platform by; nothing where the text cannot be a platform's name.
    @inline(__always)
    private static func writePlatform(
        _ name: UnsafeRawBufferPointer,
        to bytes: UnsafeMutableRawBufferPointer,
        at start: Int
    ) -> Int {
        guard name.count <= ClientKind.maximumPlatformLength else { return start }
        var isName = true
        for offset in 0..<name.count {
            let byte = ASCII.lowercased(name[offset])
            bytes[start &+ offset] = byte
            isName = isName && isPartOfPlatformName(byte)
        }
        let written = UnsafeRawBufferPointer(rebasing: bytes[start..<(start &+ name.count)])
        if written.first == UInt8(ascii: "i"), written.count > 3, isOtherNameOfIOS(written) {
            return "ios".withBytes { copy($0, to: bytes, at: start) }
        }
        return isName ? start &+ name.count : start
    }

    @inline(__always)
    private static func isPartOfPlatformName(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || ASCII.isDigit(byte) || byte == ASCII.hyphen || byte == UInt8(ascii: "_")
    }

    private static func isOtherNameOfIOS(_ name: UnsafeRawBufferPointer) -> Bool {
        Platform.otherNamesOfIOS.contains { other in other.withBytes { $0.hasSameBytes(as: name) } }
    }
}

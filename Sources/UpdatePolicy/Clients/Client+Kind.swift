// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Client {
    /// Writes the kind of this client as bytes, as `ClientKind` tells, to the beginning of `bytes`, which grow if need be.
    ///
    /// Nothing is allocated while `bytes` have room.
    ///
    /// - Parameter bundle: The app's bundle as the policy spells it.
    /// - Returns: How many bytes the kind has.
    public borrowing func writeKind(ofApp bundle: String, into bytes: inout [UInt8]) -> Int {
        let room = bundle.utf8.count + ClientKind.maximumLengthOfMembers
        if bytes.count < room { bytes = [UInt8](repeating: 0, count: room) }
        return bytes.withUnsafeMutableBytes { bytes in
            var end = bundle.withBytes { Self.copy($0, to: bytes, at: 0) }
            end = Self.close(bytes, at: end)
            if let platformText { end = Self.writePlatform(platformText, to: bytes, at: end) }
            end = Self.close(bytes, at: end)
            if versionKey != nil {
                end = Self.writeVersion(versionText, upTo: VersionScanner.maximumLength, to: bytes, at: end)
            } else if let versionText {
                end = Self.writeUnreadable(versionText, to: bytes, at: end)
            }
            end = Self.close(bytes, at: end)
            if buildKey != nil {
                end = Self.writeVersion(buildText, upTo: ClientKind.maximumNumberLength, to: bytes, at: end)
            }
            end = Self.close(bytes, at: end)
            if let region {
                bytes[end] = UInt8(region.letters >> 8)
                bytes[end &+ 1] = UInt8(truncatingIfNeeded: region.letters)
                end &+= 2
            }
            end = Self.close(bytes, at: end)
            if osKey != nil {
                end = Self.writeVersion(osText, upTo: ClientKind.maximumNumberLength, to: bytes, at: end)
            }
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
    public static func writeCoarseKind(ofVersion version: String, in bytes: inout [UInt8]) -> Int {
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

    /// Writes a version without the blanks at its ends; nothing where it is longer than that.
    @inline(__always)
    private static func writeVersion(
        _ text: UTF8Text?,
        upTo maximumLength: Int,
        to bytes: UnsafeMutableRawBufferPointer,
        at start: Int
    ) -> Int {
        guard let text else { return start }
        return text.string.withBytes { text in
            let text = VersionScanner.withoutBlanks(text)
            return text.count <= maximumLength ? copy(text, to: bytes, at: start) : start
        }
    }

    /// Writes a version that cannot be read, or the sign for one that is not kept.
    private static func writeUnreadable(
        _ text: UTF8Text,
        to bytes: UnsafeMutableRawBufferPointer,
        at start: Int
    ) -> Int {
        text.string.withBytes { written in
            let version = VersionScanner.withoutBlanks(written)
            let isKept =
                !version.isEmpty && version.count <= ClientKind.maximumUnreadableVersionLength
                && version.allSatisfy { (0x20...0x7E).contains($0) }
            return isKept
                ? copy(version, to: bytes, at: start)
                : ClientKind.unkeptVersion.withBytes { copy($0, to: bytes, at: start) }
        }
    }

    /// Writes the name that rules know the platform by; nothing where the text cannot be a platform's name.
    @inline(__always)
    private static func writePlatform(
        _ text: UTF8Text,
        to bytes: UnsafeMutableRawBufferPointer,
        at start: Int
    ) -> Int {
        text.string.withBytes { name in
            guard name.count <= ClientKind.maximumPlatformLength else { return start }
            var isName = true
            for offset in 0..<name.count {
                let byte = ASCII.lowercased(name[offset])
                bytes[start &+ offset] = byte
                isName = isName && isPartOfPlatformName(byte)
            }
            let written = UnsafeRawBufferPointer(rebasing: bytes[start..<(start &+ name.count)])
            if written.first == UInt8(ascii: "i"), isOtherNameOfIOS(written) {
                return "ios".withBytes { copy($0, to: bytes, at: start) }
            }
            return isName ? start &+ name.count : start
        }
    }

    @inline(__always)
    private static func isPartOfPlatformName(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || ASCII.isDigit(byte) || byte == ASCII.hyphen || byte == UInt8(ascii: "_")
    }

    private static func isOtherNameOfIOS(_ name: UnsafeRawBufferPointer) -> Bool {
        Platform.otherNamesOfIOS.contains { other in other.withBytes { $0.hasSameBytes(as: name) } }
    }
}

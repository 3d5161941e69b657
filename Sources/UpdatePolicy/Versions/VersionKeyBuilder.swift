// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A version key in the making: numbers are appended first, then the identifiers of a pre-release.
struct VersionKeyBuilder {
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private var tail: [UInt8]?
    private var count = 0
    private var pendingZeros = 0
    private(set) var isPrerelease = false

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        if count < 8 {
            high |= UInt64(byte) << UInt64(truncatingIfNeeded: 56 &- 8 &* count)
        } else if count < 16 {
            low |= UInt64(byte) << UInt64(truncatingIfNeeded: 120 &- 8 &* count)
        } else {
            if tail == nil { tail = [] }
            tail?.append(byte)
        }
        count &+= 1
    }

    @inline(__always)
    private mutating func append(contentsOf bytes: some Collection<UInt8>) {
        for byte in bytes { append(byte) }
    }

    /// Appends a number given by its digits, leading zeros included.
    @inline(__always)
    mutating func appendNumber(_ digits: some Collection<UInt8>) {
        let significant = digits.drop { $0 == ASCII.zero }
        if significant.isEmpty {
            pendingZeros &+= 1
            return
        }
        while pendingZeros > 0 {
            append(2)
            pendingZeros &-= 1
        }
        append(2 &+ UInt8(truncatingIfNeeded: significant.count))
        append(contentsOf: significant)
    }

    /// Appends an identifier of a pre-release: a number where all of it is digits, else a text.
    mutating func appendIdentifier(_ identifier: some Collection<UInt8>) {
        if !isPrerelease {
            isPrerelease = true
            append(0)
        }
        if identifier.allSatisfy(ASCII.isDigit) {
            let significant = identifier.drop { $0 == ASCII.zero }
            append(1)
            append(UInt8(truncatingIfNeeded: significant.count))
            append(contentsOf: significant)
        } else {
            append(2)
            append(contentsOf: identifier)
            append(0)
        }
    }

    /// The key of the version.
    var key: VersionKey {
        var builder = self
        builder.append(isPrerelease ? 0 : 1)
        return VersionKey(high: builder.high, low: builder.low, tail: builder.tail)
    }

    /// The least key above that of the version: of a pre-release p it is p.0, of a release no version has it.
    var keyAbove: VersionKey {
        var builder = self
        if isPrerelease {
            builder.appendIdentifier(CollectionOfOne(ASCII.zero))
            builder.append(0)
        } else {
            builder.append(1)
            builder.append(1)
        }
        return VersionKey(high: builder.high, low: builder.low, tail: builder.tail)
    }

    /// The key of the first pre-release of these numbers, `-0`: where their family begins.
    var familyKey: VersionKey {
        var builder = self
        builder.appendIdentifier(CollectionOfOne(ASCII.zero))
        return builder.key
    }
}

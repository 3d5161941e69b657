// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A set of versions, written in npm's grammar for ranges.
///
/// `<`, `<=`, `>`, `>=`, `=`, a bare version, a space for "and", `||` for "or", `1.2 - 1.4`, `1.2.x`, `~1.2.3`, `^1.2.3`
/// and `*`. Unlike in npm a version is exact and padded with zeros (`=1.2` is 1.2.0 alone, write `1.2.x` for the
/// family), and pre-releases are ordinary members of the order (`<1.2` includes `1.2-beta`).
public struct VersionRange: Sendable {
    /// The range as it was written.
    public let text: String

    /// What the range means: not empty, sorted, and none touches the next.
    let intervals: [VersionInterval]

    /// Reads a range.
    ///
    /// - Throws: `VersionRangeError` where it cannot be read, and where no version can be in it.
    public init(_ text: String) throws(VersionRangeError) {
        do throws(VersionRangeFault) {
            intervals = try Self.intervals(of: text)
        } catch {
            throw VersionRangeError(error)
        }
        self.text = text
    }

    static func intervals(of text: String) throws(VersionRangeFault) -> [VersionInterval] {
        let parsed: Result<[VersionInterval], VersionRangeFault> = text.withBytes { bytes in
            Result { () throws(VersionRangeFault) in try VersionRangeParser(bytes: bytes).intervals() }
        }
        return try parsed.get()
    }

    /// Whether a version is in the range.
    public func contains(_ version: AppVersion) -> Bool {
        intervals.contains { $0.contains(version.key) }
    }
}

extension VersionRange: CustomStringConvertible {
    /// The range as it was written.
    public var description: String { text }
}

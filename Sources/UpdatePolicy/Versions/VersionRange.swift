// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A set of versions, written in npm's grammar for ranges.
///
/// `<`, `<=`, `>`, `>=`, `=`, a bare version, a space for "and", `||` for "or", `1.2 - 1.4`, `1.2.x`, `~1.2.3`, `^1.2.3`
/// and `*`. Unlike in npm a version is exact and padded with zeros (`=1.2` is 1.2.0 alone, write `1.2.x` for the
/// family), and pre-releases are ordinary members of the order (`<1.2` includes `1.2-beta`).
package struct VersionRange: Sendable {
    package let text: String

    /// What the range means: not empty, sorted, and none touches the next.
    let intervals: [VersionInterval]

    /// Reads a range.
    ///
    /// - Throws: `VersionRangeError` where it cannot be read, and where no version can be in it.
    package init(_ text: String) throws(VersionRangeError) {
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

    /// Whether any version in the range is this one or a later one.
    package func hasVersions(from version: AppVersion) -> Bool {
        intervals.last.map { version.key < $0.upper } ?? false
    }

    package func contains(_ version: AppVersion) -> Bool {
        intervals.contains { $0.contains(version.key) }
    }
}

extension VersionRange: CustomStringConvertible {
    /// The range as it was written.
    package var description: String { text }
}

/// The reason why a text is not a version range.
package struct VersionRangeError: Error, Sendable, Equatable {
    /// What is wrong, with the part of the text that is at fault.
    package let message: String

    /// What to do about it. It ends with ``suggestion`` where there is one.
    package let hint: String

    /// A range that means what the text seems to mean; `nil` where that cannot be known.
    package let suggestion: String?

    /// How many faults a text may have so that what it means is still suggested.
    private static let mostRepairs = 4

    /// Completes a fault with what the whole text seems to mean, if that is a range.
    init(_ fault: VersionRangeFault) {
        message = fault.message
        var meant = fault.meant.first
        for _ in 0..<Self.mostRepairs {
            guard let text = meant else { break }
            do throws(VersionRangeFault) {
                _ = try VersionRange.intervals(of: text)
                hint = "\(fault.hint): \(text)"
                suggestion = text
                return
            } catch {
                meant = error.meant.first
            }
        }
        hint = fault.hint + "."
        suggestion = nil
    }
}

extension VersionRangeError: CustomStringConvertible {
    /// The message and the hint in one sentence.
    package var description: String { "\(message) (hint: \(hint))" }
}

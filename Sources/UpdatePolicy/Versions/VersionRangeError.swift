// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Why a text is no version range.
public struct VersionRangeError: Error, Sendable, Equatable {
    /// What is wrong, with the part of the text that is at fault.
    public let message: String

    /// What to do about it. It ends with ``suggestion`` where there is one.
    public let hint: String

    /// A range that means what the text seems to mean; `nil` where that cannot be known.
    public let suggestion: String?

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
    public var description: String { "\(message) (hint: \(hint))" }
}

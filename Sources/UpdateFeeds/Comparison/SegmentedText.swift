// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The comparisons that go through a version character by character.
enum SegmentedText {
    /// `NSNumericSearch`: runs of digits compare as numbers, all else by code; a longer text is newer.
    static func numericSearch(_ installed: String, _ offered: String) -> ComparisonOutcome {
        var (left, right) = (Array(installed.utf16)[...], Array(offered.utf16)[...])
        while let first = left.first, let other = right.first {
            guard isDigit(first), isDigit(other) else {
                if first != other { return ComparisonOutcome(first, other) }
                left.removeFirst()
                right.removeFirst()
                continue
            }
            let (digits, others) = (left.prefix(while: isDigit), right.prefix(while: isDigit))
            let outcome = compareDigits(digits, others)
            if outcome != .equal { return outcome }
            left.removeFirst(digits.count)
            right.removeFirst(others.count)
        }
        return ComparisonOutcome(left.count, right.count)
    }

    /// Two numbers of any size by their digits.
    static func compareDigits<Digits: BidirectionalCollection>(_ installed: Digits, _ offered: Digits)
        -> ComparisonOutcome
    where Digits.Element == UInt16 {
        let zero = UInt16(UInt8(ascii: "0"))
        let (left, right) = (installed.drop { $0 == zero }, offered.drop { $0 == zero })
        if left.count != right.count { return ComparisonOutcome(left.count, right.count) }
        if left.elementsEqual(right) { return .equal }
        return left.lexicographicallyPrecedes(right) ? .newer : .older
    }

    private static func isDigit(_ unit: UInt16) -> Bool {
        (UInt16(UInt8(ascii: "0"))...UInt16(UInt8(ascii: "9"))).contains(unit)
    }
}

// MARK: - Sparkle

extension SegmentedText {
    /// A class of characters of Sparkle's comparator.
    private enum Class {
        case number
        case text
        case period
        /// Blanks and punctuation.
        case separator
        case dash

        init(_ character: Unicode.Scalar) {
            switch (character, character.properties.generalCategory) {
            case (".", _): self = .period
            case ("-", _): self = .dash
            case (_, .decimalNumber): self = .number
            case ("\t"..."\r", _), ("\u{85}", _), (_, .spaceSeparator), (_, .lineSeparator), (_, .paragraphSeparator):
                self = .separator
            case (_, .connectorPunctuation), (_, .dashPunctuation), (_, .openPunctuation), (_, .closePunctuation),
                (_, .initialPunctuation), (_, .finalPunctuation), (_, .otherPunctuation):
                self = .separator
            default: self = .text
            }
        }

        /// Periods are separators too, where two characters are compared.
        var isSeparator: Bool { self == .period || self == .separator }
    }

    private struct Segment {
        var kind: Class
        var text: String
    }

    /// Runs of numbers and of other characters, up to the first `-`. Numbers and periods at the beginning are filled up
    /// with zeros; a version that goes on with other characters is a pre-release.
    static func sparkle(_ installed: String, _ offered: String) -> ComparisonOutcome {
        var (left, right) = (segments(installed), segments(offered))
        balance(&left, with: right)
        balance(&right, with: left)
        for (segment, other) in zip(left, right) {
            let outcome = compare(segment, other)
            if outcome != .equal { return outcome }
        }
        if left.count == right.count { return .equal }
        let isOfferedLonger = left.count < right.count
        let next = isOfferedLonger ? right[left.count] : left[right.count]
        return (next.kind == .text) == isOfferedLonger ? .older : .newer
    }

    private static func compare(_ installed: Segment, _ offered: Segment) -> ComparisonOutcome {
        switch (installed.kind, offered.kind) {
        case (.number, .number):
            return ComparisonOutcome(
                NumberedParts.leadingInteger(Substring(installed.text)),
                NumberedParts.leadingInteger(Substring(offered.text))
            )
        case (.text, .text): return ComparisonOutcome(installed.text, offered.text)
        case (.dash, .dash): return .equal
        case (let kind, let other) where kind.isSeparator && other.isSeparator: return .equal
        case (_, .text): return .older
        case (.text, _): return .newer
        case (.number, _): return .older
        default: return .newer
        }
    }

    private static func segments(_ version: String) -> [Segment] {
        var segments: [Segment] = []
        for character in version.unicodeScalars {
            let kind = Class(character)
            // A dash at the very beginning is a segment; any other ends the version.
            if kind == .dash, !segments.isEmpty { break }
            if let last = segments.last, last.kind == kind, !kind.isSeparator {
                segments[segments.count - 1].text.unicodeScalars.append(character)
            } else {
                segments.append(Segment(kind: kind, text: String(character)))
            }
        }
        return segments
    }

    /// Puts what the other version has more of numbers and periods at its beginning behind those of the first, as zeros.
    private static func balance(_ segments: inout [Segment], with other: [Segment]) {
        let count = countOfNumbersAndPeriods(segments)
        let missing = other.prefix(countOfNumbersAndPeriods(other)).dropFirst(count).map { segment in
            segment.kind == .period ? segment : Segment(kind: .number, text: "0")
        }
        segments.insert(contentsOf: missing, at: count)
    }

    private static func countOfNumbersAndPeriods(_ segments: [Segment]) -> Int {
        segments.prefix { $0.kind == .number || $0.kind == .period }.count
    }
}

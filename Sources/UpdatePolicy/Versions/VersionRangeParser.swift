// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The reader of a version range's text.
///
///     range = side *("||" side)
///     side = bound " - " bound / comparator *(blank comparator)
///     comparator = ["<" / "<=" / ">" / ">=" / "=" / "~" / "^"] bound
///     bound = version without suffix / [v] number *("." number) 1*("." wildcard) / wildcard *("." wildcard)
///     wildcard = "x" / "X" / "*"
struct VersionRangeParser {
    private let bytes: UnsafeRawBufferPointer

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The intervals that the range means, sorted and merged.
    func intervals() throws(VersionRangeError) -> [VersionInterval] {
        guard bytes.contains(where: { !ASCII.isBlank($0) }) else {
            throw VersionRangeError(
                "the range is empty",
                hint: "use NULL for no condition, or * for every version that can be read"
            )
        }
        try refuseForeignSigns()
        var intervals: [VersionInterval] = []
        var start = 0
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "|") {
                guard position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "|") else {
                    throw VersionRangeError("\"|\" is no operator", hint: "write || for \"or\"")
                }
                try append(start..<position, to: &intervals)
                position += 2
                start = position
            } else {
                position += 1
            }
        }
        try append(start..<bytes.count, to: &intervals)
        guard !intervals.isEmpty else {
            throw VersionRangeError(
                "\"\(text(0..<bytes.count))\" matches nothing",
                hint: "a version must be able to meet all conditions on one side of ||"
            )
        }
        return merged(intervals)
    }

    private func append(_ side: Range<Int>, to intervals: inout [VersionInterval]) throws(VersionRangeError) {
        let interval = try self.interval(of: side)
        if !interval.isEmpty { intervals.append(interval) }
    }

    private func merged(_ intervals: [VersionInterval]) -> [VersionInterval] {
        guard intervals.count > 1 else { return intervals }
        var result: [VersionInterval] = []
        for interval in intervals.sorted(by: { $0.lower < $1.lower }) {
            if let last = result.last, !(last.upper < interval.lower) {
                if last.upper < interval.upper { result[result.count - 1].upper = interval.upper }
            } else {
                result.append(interval)
            }
        }
        return result
    }

    private func interval(of side: Range<Int>) throws(VersionRangeError) -> VersionInterval {
        let words = self.words(of: side)
        guard !words.isEmpty else {
            throw VersionRangeError(
                "a side of || is empty in \"\(text(0..<bytes.count))\"",
                hint: "write a range on both sides of ||, or * for every version that can be read"
            )
        }
        if words.contains(where: isHyphen) { return try hyphenRange(words, side) }

        var interval = VersionInterval.all
        var index = 0
        while index < words.count {
            let (comparison, length) = comparison(at: words[index])
            var word = words[index].dropFirst(length)
            if word.isEmpty {
                index += 1
                guard index < words.count else {
                    throw VersionRangeError(
                        "\"\(text(words[index - 1]))\" has no version behind it",
                        hint: "write a version behind the operator, such as >=1.2"
                    )
                }
                word = words[index]
            }
            interval.formIntersection(try comparison.interval(of: bound(word, isBare: length == 0)))
            index += 1
        }
        return interval
    }

    private func hyphenRange(_ words: [Range<Int>], _ side: Range<Int>) throws(VersionRangeError) -> VersionInterval {
        guard words.count == 3, isHyphen(words[1]), !isHyphen(words[0]), !isHyphen(words[2]),
            comparison(at: words[0]).length == 0, comparison(at: words[2]).length == 0
        else {
            throw VersionRangeError(
                "\"-\" stands between two versions and nothing else, not as in \"\(text(trimmed(side)))\"",
                hint: "write 1.2 - 1.4, or >= and <= with a space between them"
            )
        }
        let first = try bound(words[0], isBare: true)
        let last = try bound(words[2], isBare: true)
        return VersionInterval(lower: first.lower, upper: last.upper)
    }

    private func comparison(at word: Range<Int>) -> (comparison: VersionComparison, length: Int) {
        guard let first = word.first else { return (.equal, 0) }
        let isFollowedByEqual = word.count > 1 && bytes[first + 1] == UInt8(ascii: "=")
        switch bytes[first] {
        case UInt8(ascii: "<"): return isFollowedByEqual ? (.atMost, 2) : (.below, 1)
        case UInt8(ascii: ">"): return isFollowedByEqual ? (.atLeast, 2) : (.above, 1)
        case UInt8(ascii: "="): return (.equal, 1)
        case UInt8(ascii: "~"): return (.tilde, 1)
        case UInt8(ascii: "^"): return (.caret, 1)
        default: return (.equal, 0)
        }
    }

    private func words(of side: Range<Int>) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start = side.lowerBound
        while start < side.upperBound {
            if ASCII.isBlank(bytes[start]) {
                start += 1
                continue
            }
            var end = start
            while end < side.upperBound, !ASCII.isBlank(bytes[end]) { end += 1 }
            words.append(start..<end)
            start = end
        }
        return words
    }

    private func isHyphen(_ word: Range<Int>) -> Bool {
        word.count == 1 && bytes[word.lowerBound] == ASCII.hyphen
    }

    private func trimmed(_ side: Range<Int>) -> Range<Int> {
        let words = self.words(of: side)
        guard let first = words.first, let last = words.last else { return side }
        return first.lowerBound..<last.upperBound
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension VersionRangeParser {
    /// Reads a version or a family of versions.
    private func bound(_ word: Range<Int>, isBare: Bool) throws(VersionRangeError) -> VersionBound {
        guard word.count <= VersionScanner.maximumLength else {
            throw VersionRangeError(
                "\"\(text(word.prefix(24)))...\" has \(word.count) bytes",
                hint: "a version has at most \(VersionScanner.maximumLength)"
            )
        }
        var bound = VersionBound(numbers: [], isFamily: false, builder: VersionKeyBuilder())
        var position = word.lowerBound
        let end = word.upperBound
        if bytes[position] | 0x20 == UInt8(ascii: "v") { position += 1 }
        while true {
            let first = position
            if position < end, isWildcard(bytes[position]) {
                bound.isFamily = true
                position += 1
            } else {
                while position < end, ASCII.isDigit(bytes[position]) { position += 1 }
                guard position > first else { throw unreadable(word) }
                guard !bound.isFamily else {
                    throw VersionRangeError(
                        "\"\(text(word))\" has a number behind a wildcard",
                        hint: "nothing but wildcards may follow one: \(text(word.lowerBound..<first - 1))"
                    )
                }
                bound.numbers.append(Array(bytes[first..<position].drop { $0 == ASCII.zero }))
                bound.builder.appendNumber(bytes[first..<position])
            }
            guard position < end, bytes[position] == ASCII.dot else { break }
            position += 1
        }
        guard position < end else { return bound }
        guard !bound.isFamily else { throw behindWildcard(word, position) }
        try scanPrerelease(word, position, isBare: isBare, &bound)
        return bound
    }

    private func scanPrerelease(
        _ word: Range<Int>,
        _ start: Int,
        isBare: Bool,
        _ bound: inout VersionBound
    ) throws(VersionRangeError) {
        let end = word.upperBound
        if bytes[start] == ASCII.hyphen {
            let isLikeRange = isBare && isLikeVersion(start + 1..<end)
            guard let position = VersionScanner.scanIdentifiers(bytes, start + 1, end, &bound.builder) else {
                throw start + 1 == end ? spacesRoundHyphen(word, start) : unreadable(word)
            }
            if isLikeRange { throw spacesRoundHyphen(word, start) }
            guard position == end else { throw trailing(word, position) }
            return
        }
        var position = start
        while position < end, ASCII.isLetter(bytes[position]) { position += 1 }
        guard position > start else { throw trailing(word, start) }
        let letters = start..<position
        while position < end, ASCII.isDigit(bytes[position]) { position += 1 }
        guard position == end else { throw trailing(word, position) }
        if letters.count == 1, position == letters.upperBound, isWildcard(bytes[start]) {
            throw missingDot(word, start)
        }
        bound.builder.appendIdentifier(bytes[letters])
        if position > letters.upperBound { bound.builder.appendIdentifier(bytes[letters.upperBound..<position]) }
    }

    private func isWildcard(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "x") || byte == UInt8(ascii: "X") || byte == UInt8(ascii: "*")
    }

    /// Whether what stands behind a hyphen could be the second version of a range: numbers or wildcards and a dot.
    private func isLikeVersion(_ range: Range<Int>) -> Bool {
        let parts = bytes[range].split(separator: ASCII.dot, omittingEmptySubsequences: false)
        return parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty
                    && (part.allSatisfy(ASCII.isDigit) || (part.count == 1 && part.allSatisfy(isWildcard)))
            }
    }
}

extension VersionRangeParser {
    private func refuseForeignSigns() throws(VersionRangeError) {
        for position in bytes.indices {
            let next = position + 1 < bytes.count ? bytes[position + 1] : 0
            switch (bytes[position], next) {
            case (UInt8(ascii: ","), _):
                throw VersionRangeError(
                    "\",\" is no operator, in \"\(text(0..<bytes.count))\"",
                    hint: "write a space for \"and\", || for \"or\""
                )
            case (UInt8(ascii: "!"), UInt8(ascii: "=")):
                throw VersionRangeError(
                    "\"!=\" is no operator, in \"\(text(0..<bytes.count))\"",
                    hint: "write what is below and above: <1.2 || >1.2"
                )
            case (UInt8(ascii: "&"), _):
                throw VersionRangeError(
                    "\"&\" is no operator, in \"\(text(0..<bytes.count))\"",
                    hint: "write a space for \"and\""
                )
            case (UInt8(ascii: "~"), UInt8(ascii: ">")):
                throw VersionRangeError("\"~>\" is no operator", hint: "write ~")
            case (UInt8(ascii: "="), UInt8(ascii: ">")) where !isAngle(before: position),
                (UInt8(ascii: "="), UInt8(ascii: "<")) where !isAngle(before: position):
                throw VersionRangeError("\"\(text(position..<position + 2))\" is no operator", hint: "write >= or <=")
            default:
                continue
            }
        }
    }

    private func isAngle(before position: Int) -> Bool {
        position > 0 && (bytes[position - 1] == UInt8(ascii: "<") || bytes[position - 1] == UInt8(ascii: ">"))
    }

    private func unreadable(_ word: Range<Int>) -> VersionRangeError {
        if bytes[word.lowerBound] == ASCII.openParenthesis { return trailing(word, word.lowerBound) }
        if bytes[word.lowerBound] == ASCII.hyphen { return spacesRoundHyphen(word, word.lowerBound) }
        return VersionRangeError(
            "\"\(text(word))\" is not a version",
            hint: "a version is numbers joined by dots, such as 1.2, 1.2.x or 1.2-beta.1"
        )
    }

    private func spacesRoundHyphen(_ word: Range<Int>, _ hyphen: Int) -> VersionRangeError {
        VersionRangeError(
            "\"\(text(word))\" is not a range",
            hint: "put spaces round the hyphen: "
                + "\(text(word.lowerBound..<hyphen)) - \(text(hyphen + 1..<word.upperBound))"
        )
    }

    private func missingDot(_ word: Range<Int>, _ wildcard: Int) -> VersionRangeError {
        VersionRangeError(
            "\"\(text(word))\" has no dot before its wildcard",
            hint: "put a dot before the wildcard: "
                + "\(text(word.lowerBound..<wildcard)).\(text(wildcard..<word.upperBound))"
        )
    }

    private func behindWildcard(_ word: Range<Int>, _ position: Int) -> VersionRangeError {
        if bytes[position] == ASCII.hyphen { return spacesRoundHyphen(word, position) }
        return VersionRangeError(
            "\"\(text(position..<word.upperBound))\" stands behind a wildcard in \"\(text(word))\"",
            hint: "write \(text(word.lowerBound..<position))"
        )
    }

    private func trailing(_ word: Range<Int>, _ position: Int) -> VersionRangeError {
        switch bytes[position] {
        case ASCII.plus, ASCII.openParenthesis:
            return VersionRangeError(
                "\"\(text(position..<word.upperBound))\" is a suffix, and a suffix does not count in a version",
                hint: position == word.lowerBound
                    ? "leave it out; a condition on builds is written as one"
                    : "leave it out: \(text(word.lowerBound..<position))"
            )
        case UInt8(ascii: "*"):
            return missingDot(word, position)
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "="), UInt8(ascii: "~"), UInt8(ascii: "^"):
            return VersionRangeError(
                "\"\(text(word))\" has an operator inside",
                hint: "put a space before the operator"
            )
        default:
            return VersionRangeError(
                "\"\(text(word))\" is not a version",
                hint: "\"\(text(position..<word.upperBound))\" cannot stand there"
            )
        }
    }
}

/// The reader of a version range's text.
///
///     range = side *("||" side)
///     side = bound " - " bound / comparator *(blank comparator)
///     comparator = ["<" / "<=" / ">" / ">=" / "=" / "~" / "^"] bound
///     bound = version without suffix / [v] number *("." number) 1*("." wildcard) / wildcard *("." wildcard)
///     wildcard = "x" / "X" / "*"
///
/// A blank is a space or a tab. The SQL function `read_version_range` reads and refuses the same, and says why.
enum VersionRangeParser {
    private typealias Word = Slice<UnsafeRawBufferPointer>

    /// The intervals that a range means, sorted and merged; `nil` where it cannot be read, or no version is in it.
    static func intervals(of bytes: UnsafeRawBufferPointer) -> [VersionInterval]? {
        var intervals: [VersionInterval] = []
        for side in sides(bytes) {
            let words = side.split(whereSeparator: isBlank)
            guard let interval = words.contains(where: isHyphen) ? span(words) : comparators(words) else { return nil }
            if !interval.isEmpty { intervals.append(interval) }
        }
        return intervals.isEmpty ? nil : merged(intervals)
    }

    private static func merged(_ intervals: [VersionInterval]) -> [VersionInterval] {
        guard intervals.count > 1 else { return intervals }
        var result: [VersionInterval] = []
        for interval in intervals.sorted(by: { $0.lower < $1.lower }) {
            if let last = result.last, !(last.upper < interval.lower) {
                if last.upper < interval.upper || last.upper == interval.upper && last.upperText == nil {
                    result[result.count - 1].upper = interval.upper
                    result[result.count - 1].upperText = interval.upperText
                }
            } else {
                result.append(interval)
            }
        }
        return result
    }

    private static func span(_ words: [Word]) -> VersionInterval? {
        guard words.count == 3, isHyphen(words[1]), let first = bound(words[0], isBare: true),
            let last = bound(words[2], isBare: true)
        else { return nil }
        return VersionInterval(lower: first.lower, upper: last.upper)
    }

    private static func comparators(_ words: [Word]) -> VersionInterval? {
        guard !words.isEmpty else { return nil }
        var interval = VersionInterval.all
        var rest = words[...]
        while let word = rest.popFirst() {
            let sign = word.prefix(while: isOperator)
            // An operator may stand apart from its version.
            guard let operand = sign.count < word.count ? word[sign.endIndex...] : rest.popFirst(),
                let bound = bound(operand, isBare: sign.isEmpty),
                let compared = comparison(String(decoding: sign, as: UTF8.self), bound, operand)
            else { return nil }
            interval.formIntersection(compared)
        }
        return interval
    }

    /// Reads a version or a family of versions.
    ///
    /// - Parameter isBare: Whether no operator is before it.
    private static func bound(_ word: Word, isBare: Bool) -> VersionBound? {
        let operand = UnsafeRawBufferPointer(rebasing: word)
        guard let bound = VersionBound(operand), bound.hasOnlyNumbers || !isUnclear(operand, isBare: isBare) else {
            return nil
        }
        return bound
    }

    /// Whether a version with a pre-release looks like something else: `1.2x` and `1x2` like a family, and without an
    /// operator `1.2-1.4` and `100-120` like two versions.
    private static func isUnclear(_ version: UnsafeRawBufferPointer, isBare: Bool) -> Bool {
        let hasV = version.first.map { $0 | 0x20 } == UInt8(ascii: "v")
        let preRelease = version.dropFirst(hasV ? 1 : 0).drop { ASCII.isDigit($0) || $0 == ASCII.dot }
        let rest = preRelease.dropFirst()
        if preRelease.first.map(isX) == true { return rest.allSatisfy(ASCII.isDigit) }
        guard isBare, preRelease.first == ASCII.hyphen else { return false }
        let parts = rest.split(separator: ASCII.dot)
        if parts.count == 1 {
            return rest.allSatisfy(ASCII.isDigit) && !version.prefix(upTo: preRelease.startIndex).contains(ASCII.dot)
        }
        return parts.allSatisfy { $0.allSatisfy(ASCII.isDigit) || $0.count == 1 && $0.allSatisfy(isX) }
    }

    /// What stands between `||`.
    private static func sides(_ bytes: UnsafeRawBufferPointer) -> [Word] {
        var sides: [Word] = []
        var rest = bytes[...]
        let bar = UInt8(ascii: "|")
        while let end = rest.indices.dropLast().first(where: { rest[$0] == bar && rest[$0 + 1] == bar }) {
            sides.append(rest[..<end])
            rest = rest[(end + 2)...]
        }
        return sides + [rest]
    }

    /// Whether a byte separates words. Unlike in versions the end of a line is none: a range is one line.
    private static func isBlank(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }

    private static func isHyphen(_ word: Word) -> Bool { word.count == 1 && word.first == ASCII.hyphen }

    private static func isX(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "x") }

    /// Whether a byte is part of an operator, be it one that ranges have or not.
    private static func isOperator(_ byte: UInt8) -> Bool { "<>=~^!".utf8.contains(byte) }

    /// What an operator means with a version; `nil` for one that ranges do not have.
    private static func comparison(_ sign: String, _ bound: VersionBound, _ operand: Word) -> VersionInterval? {
        switch sign {
        case "<":
            VersionInterval(
                lower: .minimum, upper: bound.lower,
                upperText: bound.isWildcard ? nil : String(decoding: operand, as: UTF8.self)
            )
        case "<=": VersionInterval(lower: .minimum, upper: bound.upper)
        case ">": VersionInterval(lower: bound.upper, upper: .maximum)
        case ">=": VersionInterval(lower: bound.lower, upper: .maximum)
        case "", "=": VersionInterval(lower: bound.lower, upper: bound.upper)
        case "~": VersionInterval(lower: bound.lower, upper: bound.tildeEnd)
        case "^": VersionInterval(lower: bound.lower, upper: bound.caretEnd)
        default: nil
        }
    }
}

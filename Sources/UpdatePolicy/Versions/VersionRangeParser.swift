// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The reader of a version range's text.
///
///     range = side *("||" side)
///     side = bound " - " bound / comparator *(blank comparator)
///     comparator = ["<" / "<=" / ">" / ">=" / "=" / "~" / "^"] bound
///     bound = version without suffix / [v] number *("." number) 1*("." wildcard) / wildcard *("." wildcard)
///     wildcard = "x" / "X" / "*"
///
/// A blank is a space or a tab. Faults are those of the SQL function `read_version_range`, to the word.
struct VersionRangeParser {
    let bytes: UnsafeRawBufferPointer

    /// The intervals that the range means, sorted and merged.
    func intervals() throws(VersionRangeFault) -> [VersionInterval] {
        guard bytes.contains(where: { !Self.isBlank($0) }) else { throw .emptyRange }
        var intervals: [VersionInterval] = []
        let sides = self.sides()
        for (index, side) in sides.enumerated() {
            let interval: VersionInterval
            do throws(VersionRangeFault) {
                interval = try self.interval(of: side)
            } catch {
                throw error.mapMeaning { meant in
                    sides.enumerated().map { $0 == index ? meant : text($1) }.joined(separator: " || ")
                }
            }
            if !interval.isEmpty { intervals.append(interval) }
        }
        guard !intervals.isEmpty else {
            throw .matchesNothing(text(0..<bytes.count), words: sides.count == 1 ? words(of: sides[0]).map(text) : [])
        }
        return merged(intervals)
    }

    private func merged(_ intervals: [VersionInterval]) -> [VersionInterval] {
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

    private func interval(of side: Range<Int>) throws(VersionRangeFault) -> VersionInterval {
        let words = self.words(of: side)
        guard !words.isEmpty else { throw .emptySide }
        do throws(VersionRangeFault) {
            if let hyphen = words.firstIndex(where: isHyphen) { return try span(words, hyphen) }
            return try comparators(words)
        } catch {
            // What separates wrongly is the fault of the side, whatever else it leads to.
            throw VersionRangeFault.separator(side: text(side), words: words.map(text)) ?? error
        }
    }

    private func comparators(_ words: [Range<Int>]) throws(VersionRangeFault) -> VersionInterval {
        var interval = VersionInterval.all
        var index = 0
        while index < words.count {
            let first = index
            let length = operatorLength(of: words[index])
            let comparison = comparison(words[index].prefix(length))
            var operand = words[index].dropFirst(length)
            // An operator may stand apart from its version.
            var isBetweenOperators = false
            if operand.isEmpty, index + 1 < words.count {
                index += 1
                operand = words[index]
                isBetweenOperators = operatorLength(of: operand) > 0
            }
            do throws(VersionRangeFault) {
                let sign = text(words[first].prefix(length))
                if isBetweenOperators {
                    let second = operatorLength(of: operand)
                    let rest = text(operand.dropFirst(second))
                    let written = sign + " " + text(operand.prefix(second))
                    throw rest.isEmpty ? .noVersion(written) : .unknownOperator(written, operand: rest)
                }
                if operand.isEmpty { throw .noVersion(sign) }
                guard let comparison else { throw .unknownOperator(sign, operand: text(operand)) }
                let bound = try bound(operand, operator: sign)
                var compared = comparison.interval(of: bound)
                if comparison == .below, !bound.isFamily { compared.upperText = text(operand) }
                interval.formIntersection(compared)
            } catch {
                throw error.mapMeaning { alternative in
                    (words[..<first].map(text) + [alternative] + words[(index + 1)...].map(text))
                        .joined(separator: " ")
                }
            }
            index += 1
        }
        return interval
    }

    private func span(_ words: [Range<Int>], _ hyphen: Int) throws(VersionRangeFault) -> VersionInterval {
        guard words.count == 3, hyphen == 1, operatorLength(of: words[0]) == 0, operatorLength(of: words[2]) == 0
        else {
            throw .span(
                words.map(text),
                hyphen: hyphen,
                in: text(words[0].lowerBound..<words[words.count - 1].upperBound)
            )
        }
        var bounds: [VersionBound] = []
        for index in [0, 2] {
            do throws(VersionRangeFault) {
                bounds.append(try bound(words[index], operator: ""))
            } catch {
                throw error.mapMeaning { meant in
                    words.indices.map { $0 == index ? meant : text(words[$0]) }.joined(separator: " ")
                }
            }
        }
        return VersionInterval(lower: bounds[0].lower, upper: bounds[1].upper)
    }

    /// Reads a version or a family of versions.
    private func bound(_ word: Range<Int>, operator: String) throws(VersionRangeFault) -> VersionBound {
        let operand = UnsafeRawBufferPointer(rebasing: bytes[word])
        let bound = VersionBound(operand)
        if let bound, bound.hasOnlyNumbers { return bound }
        if let fault = VersionRangeFault.operand(operand, isReadable: bound != nil, operator: `operator`) {
            throw fault
        }
        guard let bound else { throw .notAVersion(text(word)) }
        return bound
    }

    private func comparison(_ sign: Range<Int>) -> VersionComparison? {
        let isFollowedByEqual = sign.count == 2 && bytes[sign.lowerBound + 1] == UInt8(ascii: "=")
        guard sign.count < 2 || isFollowedByEqual else { return nil }
        switch sign.isEmpty ? 0 : bytes[sign.lowerBound] {
        case 0: return .equal
        case UInt8(ascii: "<"): return isFollowedByEqual ? .atMost : .below
        case UInt8(ascii: ">"): return isFollowedByEqual ? .atLeast : .above
        case UInt8(ascii: "=") where !isFollowedByEqual: return .equal
        case UInt8(ascii: "~") where !isFollowedByEqual: return .tilde
        case UInt8(ascii: "^") where !isFollowedByEqual: return .caret
        default: return nil
        }
    }
}

extension VersionRangeParser {
    /// Whether a byte separates words. Unlike in versions the end of a line is none: a range is one line.
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == ASCII.space || byte == ASCII.tab
    }

    /// Whether a byte is part of an operator, be it one that ranges have or not.
    static func isOperator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "="), UInt8(ascii: "~"), UInt8(ascii: "^"),
            UInt8(ascii: "!"):
            true
        default: false
        }
    }

    /// What stands between `||`, without blanks at the ends.
    private func sides() -> [Range<Int>] {
        var sides: [Range<Int>] = []
        var start = 0
        var position = 0
        let bar = UInt8(ascii: "|")
        while position < bytes.count {
            if bytes[position] == bar, position + 1 < bytes.count, bytes[position + 1] == bar {
                sides.append(trimmed(start..<position))
                position += 2
                start = position
            } else {
                position += 1
            }
        }
        sides.append(trimmed(start..<bytes.count))
        return sides
    }

    private func trimmed(_ side: Range<Int>) -> Range<Int> {
        var (start, end) = (side.lowerBound, side.upperBound)
        while start < end, Self.isBlank(bytes[start]) { start += 1 }
        while start < end, Self.isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private func words(of side: Range<Int>) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start = side.lowerBound
        while start < side.upperBound {
            if Self.isBlank(bytes[start]) {
                start += 1
                continue
            }
            var end = start
            while end < side.upperBound, !Self.isBlank(bytes[end]) { end += 1 }
            words.append(start..<end)
            start = end
        }
        return words
    }

    private func operatorLength(of word: Range<Int>) -> Int {
        var end = word.lowerBound
        while end < word.upperBound, Self.isOperator(bytes[end]) { end += 1 }
        return end - word.lowerBound
    }

    private func isHyphen(_ word: Range<Int>) -> Bool {
        word.count == 1 && bytes[word.lowerBound] == ASCII.hyphen
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

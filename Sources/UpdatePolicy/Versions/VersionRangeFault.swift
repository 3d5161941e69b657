// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A fault that the reader of a range found, and what seems to be meant.
///
/// Messages and hints are those of SQL, to the word.
struct VersionRangeFault: Error {
    /// What is wrong, with the part of the text that is at fault.
    let message: String

    /// What to do about it, without a full stop.
    let hint: String

    /// What to write in place of the faulty part; `nil` where that cannot be known. It may have a fault of its own.
    ///
    /// More than one are alternatives, any of which may hold.
    private(set) var meant: [String]

    init(_ message: String, hint: String, meant: [String] = []) {
        self.message = message
        self.hint = hint
        self.meant = meant
    }

    /// The same fault of a larger part of the text, into which `enclose` puts each alternative.
    func mapMeaning(_ enclose: (String) -> String) -> VersionRangeFault {
        VersionRangeFault(
            message,
            hint: hint,
            meant: meant.isEmpty ? [] : [meant.map(enclose).joined(separator: " || ")]
        )
    }
}

extension VersionRangeFault {
    static let emptyRange = VersionRangeFault(
        "an empty range",
        hint: "Write * for any version that can be read"
    )

    static let emptySide = VersionRangeFault(
        "one side of \"||\" is empty",
        hint: "Write a range on both sides of \"||\", or leave it out"
    )

    /// - Parameter words: Those of the only side, if there is only one.
    static func matchesNothing(_ range: String, words: [String]) -> VersionRangeFault {
        // A list of versions: nothing is two of them.
        let isList = words.count > 1 && words.allSatisfy { isListed($0.utf8[...]) && $0 != "-" }
        return VersionRangeFault(
            "\"\(range)\" matches nothing",
            hint: "No version can be on all sides at once: look at the bounds, and write \"||\" where \"or\" is meant",
            meant: isList ? [words.joined(separator: " || ")] : []
        )
    }

    static func noVersion(_ sign: String) -> VersionRangeFault {
        VersionRangeFault("\"\(sign)\" is followed by no version", hint: "Write the version after it")
    }

    /// - Parameter written: The operator as it stands in the range, with a space inside if there is one.
    static func unknownOperator(_ written: String, operand: String) -> VersionRangeFault {
        let sign = String(decoding: written.utf8.filter { $0 != ASCII.space }, as: UTF8.self)
        let known: String? =
            switch sign {
            case "<", "<=", ">", ">=", "=", "~", "^": sign
            case "=<": "<="
            case "=>": ">="
            case "==", "===": "="
            default: nil
            }
        let message = "\"\(written)\(operand)\": there is no operator \"\(written)\""
        if let known { return VersionRangeFault(message, hint: "Write \"\(known)\"", meant: [known + operand]) }
        switch sign {
        case "!=", "!==", "!", "<>":
            return VersionRangeFault(
                message,
                hint: "Leave one version out with \"||\"",
                meant: ["<" + operand, ">" + operand]
            )
        case "~>", "~=":
            // Where these operators come from, they keep all numbers but the last.
            let numbers = numbers(of: operand)
            return VersionRangeFault(
                message,
                hint: "Write \"~\" where the first two numbers are to stay, \"^\" where the first that is not 0 is",
                meant: numbers == 1 || numbers == 3 ? ["~" + operand] : []
            )
        default:
            return VersionRangeFault(message, hint: "The operators are <, <=, >, >=, =, ~ and ^")
        }
    }

    static func span(_ words: [String], hyphen: Int, in side: String) -> VersionRangeFault {
        var meant: [String] = []
        if hyphen > 0, hyphen + 1 < words.count {
            let (first, last) = (words[hyphen - 1], words[hyphen + 1])
            let (start, end) = (sign(of: first), sign(of: last))
            if ["", ">", ">="].contains(start), ["", "<", "<="].contains(end) {
                let bounds = [(start.isEmpty ? ">=" : "") + first, (end.isEmpty ? "<=" : "") + last]
                meant = [(words[..<(hyphen - 1)] + bounds + words[(hyphen + 2)...]).joined(separator: " ")]
            }
        }
        return VersionRangeFault(
            "\"-\" stands between two versions and nothing else, not as in \"\(side)\"",
            hint: "A span stands alone on its side of \"||\"; with more beside it, write two comparisons",
            meant: meant
        )
    }

    static func notAVersion(_ operand: String) -> VersionRangeFault {
        VersionRangeFault(
            "\"\(operand)\" is not a version",
            hint:
                "A version, such as 1.2, 1.2.0-beta.1 or 1.2b3, is numbers joined by dots, with a pre-release if need be"
        )
    }
}

extension VersionRangeFault {
    /// The fault of a side that has a bound in words, a comma, |, &, "and" or "or" in it; `nil` where it has none.
    static func separator(side: String, words: [String]) -> VersionRangeFault? {
        if let bound = boundInWords(words) {
            return VersionRangeFault(
                "\"\(side)\": a bound is written as an operator",
                hint:
                    "Write \"<\" for \"below\", \">\" for \"above\", \">=\" for \"or later\", \"<=\" for \"or earlier\"",
                meant: [bound]
            )
        }
        guard let separator = firstSeparator(in: words) else { return nil }
        let text = words.joined(separator: " ")
        if separator == "," {
            return VersionRangeFault(
                "\"\(side)\" has a comma",
                hint: "Put a space for \"and\", \"||\" for \"or\"",
                meant: list(items(of: text, between: UInt8(ascii: ",")).filter { !$0.isEmpty })
            )
        }
        let meant: String
        var isAnd = false
        switch ASCII.lowercased(separator) {
        case "or":
            meant = words.indices.map { isWord("or", words, $0) ? "||" : words[$0] }.joined(separator: " ")
        case "and":
            meant = words.indices.filter { !isWord("and", words, $0) }.map { words[$0] }.joined(separator: " ")
            isAnd = true
        case let sign where sign.utf8.first == UInt8(ascii: "|"):
            meant = items(of: text, between: UInt8(ascii: "|")).joined(separator: " || ")
        default:
            meant = items(of: text, between: UInt8(ascii: "&")).joined(separator: " ")
            isAnd = true
        }
        // Whether "1.2 and 1.4" are two versions or a wrong bound cannot be known, nor what "1.2 &" goes on with.
        let ends = [meant.utf8.first, meant.utf8.last]
        let isUnclear =
            isAnd && (ends.contains(ASCII.space) || meant.utf8.split(separator: ASCII.space).allSatisfy(isListed))
        return VersionRangeFault(
            "\"\(side)\": there is no operator \"\(separator)\"",
            hint: "Write \"||\" for \"or\", and a space for \"and\"",
            meant: isUnclear ? [] : [meant]
        )
    }

    /// What `below 1.2` or `1.2 or later` means; `nil` for anything else.
    private static func boundInWords(_ words: [String]) -> String? {
        if words.count == 2 {
            switch ASCII.lowercased(words[0]) {
            case "below", "under", "before": return "<" + words[1]
            case "above", "over", "after": return ">" + words[1]
            default: return nil
            }
        }
        guard words.count == 3, ASCII.lowercased(words[1]) == "or" else { return nil }
        switch ASCII.lowercased(words[2]) {
        case "later", "newer", "above": return ">=" + words[0]
        case "earlier", "older", "below": return "<=" + words[0]
        default: return nil
        }
    }

    /// What a list with commas means: versions are alternatives, bounds are to hold together.
    private static func list(_ items: [String]) -> [String] {
        if items.isEmpty { return [] }
        if items.allSatisfy({ isListed($0.utf8[...]) }) { return [items.joined(separator: " || ")] }
        if items.allSatisfy(isBound) { return [items.joined(separator: " ")] }
        return []
    }

    private static func firstSeparator(in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if isWord("and", words, index) || isWord("or", words, index) { return word }
            let rest = word.utf8.drop { ![UInt8(ascii: ","), UInt8(ascii: "|"), UInt8(ascii: "&")].contains($0) }
            guard let sign = rest.first else { continue }
            return sign == UInt8(ascii: ",") ? "," : String(Substring(rest.prefix { $0 == sign }))
        }
        return nil
    }

    /// Whether a word that is neither the first nor the last is this one; ASCII case does not count.
    private static func isWord(_ word: String, _ words: [String], _ index: Int) -> Bool {
        index > 0 && index + 1 < words.count && ASCII.lowercased(words[index]) == word
    }

    /// What stands between runs of a sign, without spaces at the ends.
    private static func items(of text: String, between sign: UInt8) -> [String] {
        var items: [String] = []
        var rest = text.utf8[...]
        while let start = rest.firstIndex(of: sign) {
            items.append(trimmed(rest[..<start]))
            rest = rest[start...].drop { $0 == sign }
        }
        return items + [trimmed(rest)]
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        var text = text.drop { $0 == ASCII.space }
        while text.last == ASCII.space { text.removeLast() }
        return String(Substring(text))
    }

    /// Whether a text is one version with at most `=` before it.
    private static func isListed(_ text: Substring.UTF8View) -> Bool {
        isOneWord(text.first == UInt8(ascii: "=") ? text.dropFirst() : text)
    }

    /// Whether a text is one version with `<`, `<=`, `>` or `>=` before it.
    private static func isBound(_ text: String) -> Bool {
        var rest = text.utf8[...]
        guard let first = rest.popFirst(), first == UInt8(ascii: "<") || first == UInt8(ascii: ">") else {
            return false
        }
        if rest.first == UInt8(ascii: "=") { rest.removeFirst() }
        if rest.first == ASCII.space { rest.removeFirst() }
        return isOneWord(rest)
    }

    /// Whether a text is neither empty nor has a space or an operator in it.
    private static func isOneWord(_ text: Substring.UTF8View) -> Bool {
        !text.isEmpty && text.allSatisfy { $0 != ASCII.space && !VersionRangeParser.isOperator($0) }
    }

    private static func sign(of word: String) -> String {
        String(decoding: word.utf8.prefix(while: VersionRangeParser.isOperator), as: UTF8.self)
    }

    /// How many numbers a version of nothing but numbers has; 0 for any other text.
    private static func numbers(of operand: String) -> Int {
        let hasV = operand.utf8.first.map { $0 | 0x20 } == UInt8(ascii: "v")
        let parts = operand.utf8.dropFirst(hasV ? 1 : 0).split(separator: ASCII.dot, omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(ASCII.isDigit) } ? parts.count : 0
    }
}

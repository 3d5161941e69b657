// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension VersionRangeFault {
    /// The fault of the version of a comparator; `nil` where there is none, or only that it cannot be read.
    ///
    /// Some readable versions are refused as well, because something else is more likely to be meant.
    static func operand(
        _ operand: UnsafeRawBufferPointer,
        isReadable: Bool,
        operator: String
    ) -> VersionRangeFault? {
        let text = String(decoding: operand, as: UTF8.self)
        if operand.count > VersionScanner.maximumLength {
            return VersionRangeFault(
                "\"\(String(String.UnicodeScalarView(text.unicodeScalars.prefix(24))))...\" has \(operand.count) bytes",
                hint: "A version has at most \(VersionScanner.maximumLength)"
            )
        }
        if operand.contains(where: isEndOfLine) {
            let line = operand.split(omittingEmptySubsequences: false, whereSeparator: isEndOfLine)
            return VersionRangeFault(
                "\"\(text)\" has the end of a line inside",
                hint: "Write the range in one line",
                meant: [`operator` + joinedRuns(line)]
            )
        }
        if operand.contains(where: VersionRangeParser.isOperator) {
            return VersionRangeFault(
                "\"\(text)\" has an operator inside",
                hint: "Put a space before the operator",
                meant: [`operator` + withSpacesBeforeOperators(operand)]
            )
        }
        if operand.contains(where: { $0 == ASCII.plus || $0 == ASCII.openParenthesis }) {
            return VersionRangeFault(
                "\"\(text)\" has a suffix, which is ignored in versions and has no place in a range",
                hint: "Leave the suffix out; a condition on build numbers goes into builds"
            )
        }
        return wildcard(operand, text, `operator`) ?? hyphen(operand, text, isReadable: isReadable, `operator`)
    }

    private static func wildcard(
        _ operand: UnsafeRawBufferPointer,
        _ text: String,
        _ sign: String
    ) -> VersionRangeFault? {
        if let end = endOfNumbers(operand), end < operand.count, isWildcard(operand[end]) {
            if end + 1 == operand.count {
                return VersionRangeFault(
                    "\"\(text)\" is not a version",
                    hint: "Put a dot before the wildcard",
                    meant: [sign + String(decoding: operand[..<end], as: UTF8.self) + "." + text.suffix(1)]
                )
            }
            if operand[end] != UInt8(ascii: "*"), operand[(end + 1)...].allSatisfy(ASCII.isDigit) {
                return VersionRangeFault(
                    "\"\(text)\" is not a version",
                    hint: "An x is a wildcard, which stands at the end and after a dot"
                )
            }
        }
        let parts = withoutV(operand).split(separator: ASCII.dot, omittingEmptySubsequences: false)
        if let first = parts.firstIndex(where: { $0.count == 1 && isWildcard($0[$0.startIndex]) }),
            first + 1 < parts.count,
            parts[..<first].allSatisfy({ !$0.isEmpty && $0.allSatisfy(ASCII.isDigit) }),
            !VersionBound.isFamily(operand)
        {
            return VersionRangeFault(
                "\"\(text)\" has something other than a wildcard after a wildcard",
                hint: "A wildcard stands at the end of a version, not as in \(text)"
            )
        }
        return nil
    }

    private static func hyphen(
        _ operand: UnsafeRawBufferPointer,
        _ text: String,
        isReadable: Bool,
        _ sign: String
    ) -> VersionRangeFault? {
        let hasHyphenOfSpan = operand.indices.contains { index in
            operand[index] == ASCII.hyphen
                && (index == 0 || index + 1 == operand.count
                    || (ASCII.isDigit(operand[index - 1]) || isWildcard(operand[index - 1]))
                        && ASCII.isDigit(operand[index + 1]))
        }
        guard sign.isEmpty && isLikeSpan(operand) || !isReadable && hasHyphenOfSpan else { return nil }
        var meant: [String] = []
        let halves = operand.split(separator: ASCII.hyphen, omittingEmptySubsequences: false)
        if sign.isEmpty, halves.count == 2, halves.allSatisfy({ $0.isEmpty || isBound($0) }) {
            let (first, last) = (String(decoding: halves[0], as: UTF8.self), String(decoding: halves[1], as: UTF8.self))
            meant = [(first.isEmpty ? "" : first + " ") + "-" + (last.isEmpty ? "" : " " + last)]
        }
        return VersionRangeFault(
            "\"\(text)\" is not one version",
            hint: "If it is meant to be from one version to another, put spaces round the hyphen",
            meant: meant
        )
    }

    /// Whether a version with a pre-release looks like two versions: two whole numbers, or a second one with a dot.
    private static func isLikeSpan(_ operand: UnsafeRawBufferPointer) -> Bool {
        guard let end = endOfNumbers(operand), end < operand.count, operand[end] == ASCII.hyphen else { return false }
        let parts = operand[(end + 1)...].split(separator: ASCII.dot, omittingEmptySubsequences: false)
        if parts.count == 1 {
            return !parts[0].isEmpty && parts[0].allSatisfy(ASCII.isDigit) && !operand[..<end].contains(ASCII.dot)
        }
        return parts.allSatisfy { part in
            !part.isEmpty && part.allSatisfy(ASCII.isDigit)
                || part.count == 1 && part.allSatisfy { $0 | 0x20 == UInt8(ascii: "x") }
        }
    }

    /// Whether it is a version of nothing but numbers and wildcards, in any order.
    private static func isBound(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        withoutV(UnsafeRawBufferPointer(rebasing: bytes)).split(separator: ASCII.dot, omittingEmptySubsequences: false)
            .allSatisfy { part in
                !part.isEmpty && part.allSatisfy(ASCII.isDigit) || part.count == 1 && part.allSatisfy(isWildcard)
            }
    }

    /// Where the numbers at the beginning end, those that dots join; `nil` where there are none.
    private static func endOfNumbers(_ operand: UnsafeRawBufferPointer) -> Int? {
        var position = operand.first.map { $0 | 0x20 } == UInt8(ascii: "v") ? 1 : 0
        var end: Int?
        while true {
            let first = position
            while position < operand.count, ASCII.isDigit(operand[position]) { position += 1 }
            guard position > first else { return end }
            end = position
            guard position < operand.count, operand[position] == ASCII.dot else { return end }
            position += 1
        }
    }

    private static func withoutV(_ operand: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        operand.first.map { $0 | 0x20 } == UInt8(ascii: "v") ? operand.dropFirst() : operand[...]
    }

    private static func isWildcard(_ byte: UInt8) -> Bool {
        byte | 0x20 == UInt8(ascii: "x") || byte == UInt8(ascii: "*")
    }

    private static func isEndOfLine(_ byte: UInt8) -> Bool {
        byte == ASCII.lineFeed || byte == ASCII.carriageReturn
    }

    /// The lines with a space in place of each run of ends of lines.
    private static func joinedRuns(_ lines: [Slice<UnsafeRawBufferPointer>]) -> String {
        var bytes: [UInt8] = []
        for (index, line) in lines.enumerated() {
            if index > 0, bytes.last != ASCII.space || bytes.isEmpty { bytes.append(ASCII.space) }
            bytes += line
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func withSpacesBeforeOperators(_ operand: UnsafeRawBufferPointer) -> String {
        var bytes: [UInt8] = []
        for index in operand.indices {
            if VersionRangeParser.isOperator(operand[index]),
                index == 0 || !VersionRangeParser.isOperator(operand[index - 1])
            {
                bytes.append(ASCII.space)
            }
            bytes.append(operand[index])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The comparisons by Semantic Versioning, more or less strict.
enum SemanticText {
    /// Dart's `version`: numbers of at most 63 bits, of which three count, then a pre-release and a build.
    static func upgrader(_ installed: String, _ offered: String) -> ComparisonOutcome {
        func read(_ version: String) -> Version? {
            guard let sides = Version.sides(of: version[...]) else { return nil }
            let numbers = sides.numbers.split(separator: ".", omittingEmptySubsequences: false)
            guard numbers.allSatisfy({ $0.allSatisfy(NumberedParts.isDigit) && Int64($0) != nil }) else { return nil }
            let three = Array(numbers.prefix(3)) + Array(repeating: "0", count: max(0, 3 - numbers.count))
            return Version(numbers: three, preRelease: sides.preRelease)
        }
        return compare(read(installed), read(offered), failure: .error)
    }

    /// npm's `semver`, behind zeros for the parts that are missing to three.
    static func reactNativeVersionCheck(_ installed: String, _ offered: String) -> ComparisonOutcome {
        func padded(_ version: String) -> String {
            let count = version.count { $0 == "." } + 1
            return version + String(repeating: ".0", count: max(0, 3 - count))
        }
        return compare(strict(padded(installed)), strict(padded(offered)), failure: .error)
    }

    /// npm's `semver`, behind zeros where a version has one or two numbers.
    static func codePush(_ installed: String, _ offered: String) -> ComparisonOutcome {
        func padded(_ version: String) -> String {
            let numbers = version.prefix { $0 != "-" && $0 != "+" }
            let parts = numbers.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(NumberedParts.isDigit) }) else { return version }
            switch parts.count {
            case 1 where numbers.count == version.count: return version + ".0.0"
            case 2: return numbers + ".0" + version.dropFirst(numbers.count)
            default: return version
            }
        }
        return compare(strict(padded(installed)), strict(padded(offered)), failure: .refused)
    }

    /// Reads a version as npm's `semver` does: three numbers without leading zeros, up to 2⁵³ - 1. Blanks at the ends and a
    /// `v` do not count.
    private static func strict(_ text: String) -> Version? {
        var text = text[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        if text.first == "v" { text.removeFirst() }
        guard let sides = Version.sides(of: text) else { return nil }
        let numbers = sides.numbers.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, numbers.allSatisfy(isStrictNumber),
            sides.preRelease.allSatisfy({ !$0.allSatisfy(NumberedParts.isDigit) || isWithoutLeadingZero($0) })
        else { return nil }
        return Version(numbers: numbers, preRelease: sides.preRelease)
    }

    private static func isStrictNumber(_ text: Substring) -> Bool {
        isWithoutLeadingZero(text) && UInt64(text).map { $0 < 1 << 53 } ?? false
    }

    private static func isWithoutLeadingZero(_ text: Substring) -> Bool {
        text == "0" || !text.hasPrefix("0")
    }

    private static func compare(
        _ installed: Version?,
        _ offered: Version?,
        failure: ComparisonOutcome.Reason
    ) -> ComparisonOutcome {
        guard let installed, let offered else { return .undecidable(failure) }
        return installed.compared(to: offered)
    }

    /// Three numbers and a pre-release.
    private struct Version {
        let numbers: [Substring]
        let preRelease: [Substring]

        /// What stands before a pre-release, and its identifiers. A build is read and left out.
        ///
        /// - Returns: `nil` where an identifier is empty or has other characters than letters, digits and hyphens.
        static func sides(of version: Substring) -> (numbers: Substring, preRelease: [Substring])? {
            let numbers = version.prefix { $0 != "-" && $0 != "+" }
            let rest = version[numbers.endIndex...]
            let preRelease = rest.hasPrefix("-") ? rest.dropFirst().prefix { $0 != "+" } : nil
            let build = rest.dropFirst(preRelease.map { $0.count + 1 } ?? 0)
            guard let identifiers = identifiers(preRelease),
                self.identifiers(build.isEmpty ? nil : build.dropFirst()) != nil
            else { return nil }
            return (numbers, identifiers)
        }

        private static func identifiers(_ text: Substring?) -> [Substring]? {
            guard let text else { return [] }
            let identifiers = text.split(separator: ".", omittingEmptySubsequences: false)
            let areValid = identifiers.allSatisfy { identifier in
                !identifier.isEmpty
                    && identifier.allSatisfy { $0.isASCII && ($0.isLetter || NumberedParts.isDigit($0) || $0 == "-") }
            }
            return areValid ? identifiers : nil
        }

        func compared(to offered: Version) -> ComparisonOutcome {
            for (number, other) in zip(numbers, offered.numbers) {
                let outcome = SegmentedText.compareDigits(number.utf16, other.utf16)
                if outcome != .equal { return outcome }
            }
            if preRelease.isEmpty || offered.preRelease.isEmpty {
                return ComparisonOutcome(preRelease.isEmpty ? 1 : 0, offered.preRelease.isEmpty ? 1 : 0)
            }
            for (identifier, other) in zip(preRelease, offered.preRelease) where identifier != other {
                switch (identifier.allSatisfy(NumberedParts.isDigit), other.allSatisfy(NumberedParts.isDigit)) {
                case (true, true):
                    let outcome = SegmentedText.compareDigits(identifier.utf16, other.utf16)
                    if outcome != .equal { return outcome }
                case (true, false): return .newer
                case (false, true): return .older
                case (false, false): return ComparisonOutcome(identifier, other)
                }
            }
            return ComparisonOutcome(preRelease.count, offered.preRelease.count)
        }
    }
}

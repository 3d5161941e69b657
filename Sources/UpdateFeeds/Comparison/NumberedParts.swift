// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The comparisons that split versions at dots and read a number from each part.
enum NumberedParts {
    /// `integerValue` of each part, then more parts are newer.
    ///
    /// A negative number is above all others, as if compared without a sign.
    static func iVersion163(_ installed: String, _ offered: String) -> ComparisonOutcome {
        let (installed, offered) = (parts(installed), parts(offered))
        for (left, right) in zip(installed, offered) {
            let outcome = ComparisonOutcome(
                UInt64(bitPattern: leadingInteger(left)),
                UInt64(bitPattern: leadingInteger(right))
            )
            if outcome != .equal { return outcome }
        }
        return ComparisonOutcome(installed.count, offered.count)
    }

    /// What is no `Int` is 0, parts that are missing are 0, empty parts do not count.
    static func siren7(_ installed: String, _ offered: String) -> ComparisonOutcome {
        let (installed, offered) = (integers(installed), integers(offered))
        return compare(count: max(installed.count, offered.count)) { index in
            ComparisonOutcome(integer(index, of: installed), integer(index, of: offered))
        }
    }

    /// Two parts compare as numbers if both are, else as text; a part that is missing is `0`.
    static func updates(_ installed: String, _ offered: String, parts count: Int) -> ComparisonOutcome {
        let (installed, offered) = (parts(installed), parts(offered))
        return compare(count: count) { index in
            let left = index < installed.count ? installed[index] : "0"
            let right = index < offered.count ? offered[index] : "0"
            if let left = Int(left), let right = Int(right) { return ComparisonOutcome(left, right) }
            return ComparisonOutcome(left, right)
        }
    }

    /// Three numbers and, behind a hyphen, a build. Only the first must be a number.
    static func princeOfVersions(_ installed: String, _ offered: String) -> ComparisonOutcome {
        guard let installed = numbersAndBuild(installed), let offered = numbersAndBuild(offered) else {
            return .undecidable(.error)
        }
        return compare(count: 4) { ComparisonOutcome(installed[$0], offered[$0]) }
    }

    private static func numbersAndBuild(_ version: String) -> [Int]? {
        let sides = version.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts(sides[0])
        guard let major = Int(numbers[0]) else { return nil }
        return [major] + (1...2).map { $0 < numbers.count ? Int(numbers[$0]) ?? 0 : 0 }
            + [sides.count > 1 ? Int(sides[1]) ?? 0 : 0]
    }

    /// One number of three: a·10⁶ + b·10³ + c. More parts, or none, fail an assertion; what is no `Int` is 0.
    static func versionToInt(_ installed: String, _ offered: String) -> ComparisonOutcome {
        let (installed, offered) = (integers(installed), integers(offered))
        guard (1...3).contains(installed.count), (1...3).contains(offered.count) else {
            return .undecidable(.assertion)
        }
        guard let left = number(installed), let right = number(offered) else { return .undecidable(.crash) }
        return ComparisonOutcome(left, right)
    }

    /// The number of three parts; `nil` where it overflows, which ends a Swift program.
    private static func number(_ parts: [Int]) -> Int? {
        var number = 0
        for index in 0..<3 {
            let (product, overflow) = number.multipliedReportingOverflow(by: 1_000)
            let (sum, carry) = product.addingReportingOverflow(integer(index, of: parts))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return number
    }

    /// `parseInt` of each part behind the zeros at the end, then more parts are newer. What is no number is NaN, which is
    /// neither above nor below anything.
    static func twist(_ installed: String, _ offered: String) -> ComparisonOutcome {
        let (installed, offered) = (withoutZerosAtEnd(installed), withoutZerosAtEnd(offered))
        for (left, right) in zip(installed, offered) {
            let (left, right) = (parsedInteger(left), parsedInteger(right))
            if left.isNaN || right.isNaN { return .undecidable(.error) }
            let outcome = ComparisonOutcome(left, right)
            if outcome != .equal { return outcome }
        }
        return ComparisonOutcome(installed.count, offered.count)
    }

    /// What is left of `/(\.0)+[^\.]*$/`: only a last part may have more behind its zero, so that `1.05` is `1`.
    private static func withoutZerosAtEnd(_ version: String) -> [Substring] {
        var parts = parts(version)
        guard parts.count > 1, parts[parts.count - 1].hasPrefix("0") else { return parts }
        parts.removeLast()
        while parts.count > 1, parts[parts.count - 1] == "0" { parts.removeLast() }
        return parts
    }

    /// Digits and dots alone; a part of at most 31 bits, or an exception; what is missing is 0.
    static func appUpdater(_ installed: String, _ offered: String) -> ComparisonOutcome {
        let installedDigits = installed.filter { isDigit($0) || $0 == "." }
        let offeredDigits = offered.filter { isDigit($0) || $0 == "." }
        let (installed, offered) = (parts(installedDigits), parts(offeredDigits))
        guard !installed[0].isEmpty, !offered[0].isEmpty else { return .undecidable(.error) }
        return compare(count: max(installed.count, offered.count)) { index in
            let left = index < installed.count && !installed[index].isEmpty ? installed[index] : "0"
            let right = index < offered.count && !offered[index].isEmpty ? offered[index] : "0"
            guard let left = Int32(left), let right = Int32(right) else { return .undecidable(.error) }
            return ComparisonOutcome(left, right)
        }
    }

    /// Versions of the same number of parts, up to the first part that is not all digits.
    ///
    /// A number above 31 bits is an exception that nobody catches, and so is an empty part that is not the last.
    static func androidSiren(_ installed: String, _ offered: String) -> ComparisonOutcome {
        if installed.isEmpty || offered.isEmpty { return .older }
        let (left, right) = (partsOfJava(installed), partsOfJava(offered))
        guard left.count == right.count else { return .undecidable(.refused) }
        return compare(count: left.count) { index in
            guard left[index].allSatisfy(isDigit), right[index].allSatisfy(isDigit) else { return .older }
            guard let left = Int32(left[index]), let right = Int32(right[index]) else { return .undecidable(.crash) }
            return ComparisonOutcome(left, right)
        }
    }

    /// The index of the first part that differs, in the reading of Siren 7; for digits alone it is that of Android-Siren.
    static func firstDifference(_ installed: String, _ offered: String) -> Int? {
        let (installed, offered) = (integers(installed), integers(offered))
        return (0..<max(installed.count, offered.count)).first {
            integer($0, of: installed) != integer($0, of: offered)
        }
    }
}

// MARK: - Readers of parts

extension NumberedParts {
    /// The first outcome that is not equal.
    private static func compare(count: Int, _ part: (Int) -> ComparisonOutcome) -> ComparisonOutcome {
        for index in 0..<count {
            let outcome = part(index)
            if outcome != .equal { return outcome }
        }
        return .equal
    }

    /// What stands between dots, empty parts included.
    private static func parts(_ version: some StringProtocol) -> [Substring] {
        Substring(version).split(separator: ".", omittingEmptySubsequences: false)
    }

    /// As `String.split` of Java: without the empty parts at the end.
    private static func partsOfJava(_ version: String) -> [Substring] {
        var parts = parts(version)
        while parts.last?.isEmpty == true { parts.removeLast() }
        return parts
    }

    /// The parts as Swift's `split` and `Int` read them: without the empty ones, and 0 for what is no `Int`.
    private static func integers(_ version: String) -> [Int] {
        version.split(separator: ".").map { Int($0) ?? 0 }
    }

    /// An integer of a list that goes on with zeros.
    private static func integer(_ index: Int, of integers: [Int]) -> Int {
        index < integers.count ? integers[index] : 0
    }

    /// `integerValue` of Foundation: the digits at the beginning, bounded, with a sign; 0 where there are none.
    static func leadingInteger(_ text: Substring) -> Int64 {
        let number = signedDigits(text)
        return Int64(number) ?? (number.dropFirst().isEmpty ? 0 : number.hasPrefix("-") ? .min : .max)
    }

    /// `parseInt` of JavaScript.
    private static func parsedInteger(_ text: Substring) -> Double {
        Double(signedDigits(text)) ?? .nan
    }

    /// A sign and the digits at the beginning of a text, behind blanks.
    private static func signedDigits(_ text: Substring) -> Substring {
        let text = text.drop { $0 == " " }
        let sign = text.hasPrefix("-") || text.hasPrefix("+") ? 1 : 0
        return text.prefix(sign + text.dropFirst(sign).prefix(while: isDigit).count)
    }

    static func isDigit(_ character: Character) -> Bool {
        character.isASCII && character.isWholeNumber
    }
}

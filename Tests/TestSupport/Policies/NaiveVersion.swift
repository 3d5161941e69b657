package import TestRandom

/// A version as its definition says, held apart from the library: numbers are texts of digits, compared directly.
package struct NaiveVersion {
    let numbers: [String]
    let identifiers: [String]?

    init(numbers: [String], identifiers: [String]?) {
        self.numbers = numbers
        self.identifiers = identifiers
    }

    /// Reads what the generators of the tests write: numbers, `-` and identifiers, or letters and digits.
    package init?(_ text: String) {
        let hyphen = text.firstIndex(of: "-")
        let letter = text.firstIndex { $0.isLetter }
        let end = [hyphen, letter].compactMap { $0 }.min() ?? text.endIndex
        let numbers = text[..<end].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard numbers.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isNumber) }) else { return nil }
        self.numbers = numbers
        if end == text.endIndex {
            identifiers = nil
        } else if text[end] == "-" {
            identifiers = text[end...].dropFirst().split(separator: ".").map(String.init)
        } else {
            let letters = text[end...].prefix { $0.isLetter }
            let digits = text[end...].dropFirst(letters.count)
            guard digits.allSatisfy(\.isNumber) else { return nil }
            identifiers = [String(letters)] + (digits.isEmpty ? [] : [String(digits)])
        }
    }

    package func order(_ other: NaiveVersion) -> Int {
        for index in 0..<max(numbers.count, other.numbers.count) {
            let left = index < numbers.count ? numbers[index] : "0"
            let right = index < other.numbers.count ? other.numbers[index] : "0"
            let order = Self.orderOfNumbers(left, right)
            if order != 0 { return order }
        }
        switch (identifiers, other.identifiers) {
        case (nil, nil): return 0
        case (nil, _): return 1
        case (_, nil): return -1
        case (.some(let left), .some(let right)):
            for (left, right) in zip(left, right) {
                let order = Self.orderOfIdentifiers(left, right)
                if order != 0 { return order }
            }
            return Self.sign(left.count, right.count)
        }
    }

    private static func orderOfNumbers(_ left: String, _ right: String) -> Int {
        let left = left.drop { $0 == "0" }
        let right = right.drop { $0 == "0" }
        if left.count != right.count { return sign(left.count, right.count) }
        return left == right ? 0 : left < right ? -1 : 1
    }

    private static func orderOfIdentifiers(_ left: String, _ right: String) -> Int {
        let leftIsNumber = left.allSatisfy(\.isNumber)
        let rightIsNumber = right.allSatisfy(\.isNumber)
        if leftIsNumber && rightIsNumber { return orderOfNumbers(left, right) }
        if leftIsNumber != rightIsNumber { return leftIsNumber ? -1 : 1 }
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    private static func sign(_ left: Int, _ right: Int) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }
}

extension NaiveVersion {
    private static let alphabet = ["0", "1", "2", "9", "10", "00", "01", "010", "99", "100", "18446744073709551616"]
    private static let words = ["0", "1", "9", "10", "a", "b", "beta", "rc", "RC", "-", "a-1", "1a", "00", "x"]

    /// The numbers of a random version.
    package static func numbers(_ generator: inout SeededGenerator) -> [String] {
        (0..<Int.random(in: 1...4, using: &generator)).map { _ in generator.pick(alphabet) }
    }

    /// The identifiers of a random pre-release.
    package static func identifiers(_ generator: inout SeededGenerator) -> [String] {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in generator.pick(words) }
    }

    /// A random version.
    package static func text(_ generator: inout SeededGenerator) -> String {
        var text = numbers(&generator).joined(separator: ".")
        if generator.chance(35) {
            text += "-" + identifiers(&generator).joined(separator: ".")
        } else if generator.chance(20) {
            text += generator.pick(["a", "b", "rc", "beta"]) + generator.pick(["", "1", "9", "10", "01"])
        }
        return text
    }
}

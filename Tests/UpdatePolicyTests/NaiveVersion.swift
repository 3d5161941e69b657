// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A version as its definition says, held apart from the library: numbers are texts of digits, compared directly.
struct NaiveVersion {
    let numbers: [String]
    let identifiers: [String]?

    init(numbers: [String], identifiers: [String]?) {
        self.numbers = numbers
        self.identifiers = identifiers
    }

    /// Reads what the generators of the tests write: numbers, `-` and identifiers, or letters and digits.
    init?(_ text: String) {
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

    func order(_ other: NaiveVersion) -> Int {
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

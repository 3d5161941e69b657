package import TestRandom

/// A version range as its definition says, held apart from the library: each comparator is asked of each version.
package struct NaiveRange {
    package struct Comparator {
        package var comparison: String
        package var numbers: [String]
        package var isFamily: Bool
        package var identifiers: [String]?

        package init(comparison: String, numbers: [String], isFamily: Bool = false, identifiers: [String]? = nil) {
            (self.comparison, self.numbers) = (comparison, numbers)
            (self.isFamily, self.identifiers) = (isFamily, identifiers)
        }
    }

    package var sides: [[Comparator]]

    package init(sides: [[Comparator]]) { self.sides = sides }

    package func contains(_ version: NaiveVersion) -> Bool {
        sides.contains { side in side.allSatisfy { $0.contains(version) } }
    }

    /// The range as its grammar writes it.
    package func text(_ generator: inout SeededGenerator) -> String {
        sides.map { side in
            side.map { comparator in
                comparator.comparison + (generator.chance(20) ? " " : "") + comparator.version
            }.joined(separator: generator.chance(20) ? "  " : " ")
        }.joined(separator: generator.chance(50) ? " || " : "||")
    }
}

extension NaiveRange.Comparator {
    package var version: String {
        if isFamily { return (numbers + ["x"]).joined(separator: ".") }
        return numbers.joined(separator: ".") + (identifiers.map { "-" + $0.joined(separator: ".") } ?? "")
    }

    private var start: NaiveVersion {
        NaiveVersion(numbers: numbers, identifiers: isFamily ? ["0"] : identifiers)
    }

    func contains(_ version: NaiveVersion) -> Bool {
        let order = version.order(start)
        let isInFamily = isFamily && !numbers.isEmpty && order >= 0 && version.order(next(numbers.count - 1)) < 0
        let isEverything = isFamily && numbers.isEmpty
        switch comparison {
        case "<": return !isEverything && order < 0
        case ">=": return isEverything || order >= 0
        case "<=": return isEverything || (isFamily ? order < 0 || isInFamily : order <= 0)
        case ">": return !isEverything && (isFamily ? order >= 0 && !isInFamily : order > 0)
        case "~": return isEverything || order >= 0 && version.order(next(min(1, numbers.count - 1))) < 0
        case "^":
            if isEverything { return true }
            let first = numbers.firstIndex { $0.contains { $0 != "0" } } ?? numbers.count - 1
            return order >= 0 && version.order(next(first)) < 0
        case "!=": return !isEverything && !(isFamily ? isInFamily : order == 0)
        default: return isEverything || (isFamily ? isInFamily : order == 0)
        }
    }

    private func next(_ index: Int) -> NaiveVersion {
        NaiveVersion(numbers: Array(numbers[..<index]) + [Self.increment(numbers[index])], identifiers: ["0"])
    }

    private static func increment(_ digits: String) -> String {
        if digits.isEmpty { return "1" }
        guard digits.hasSuffix("9") else {
            let last = digits.last?.wholeNumberValue ?? 0
            return digits.dropLast() + "\(last + 1)"
        }
        return increment(String(digits.dropLast())) + "0"
    }
}

import TestRandom

/// Random versions and ranges, as texts.
enum RandomVersion {
    private static let alphabet = ["0", "1", "2", "9", "10", "00", "01", "010", "99", "100", "18446744073709551616"]
    private static let words = ["0", "1", "9", "10", "a", "b", "beta", "rc", "RC", "-", "a-1", "1a", "00", "x"]

    /// The numbers of a version.
    static func numbers(_ generator: inout SeededGenerator) -> [String] {
        (0..<Int.random(in: 1...4, using: &generator)).map { _ in generator.pick(alphabet) }
    }

    /// The identifiers of a pre-release.
    private static func identifiers(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in generator.pick(words) }.joined(separator: ".")
    }

    /// A version.
    static func text(_ generator: inout SeededGenerator) -> String {
        var text = numbers(&generator).joined(separator: ".")
        if generator.chance(35) {
            text += "-" + identifiers(&generator)
        } else if generator.chance(20) {
            text += generator.pick(["a", "b", "rc", "beta"]) + generator.pick(["", "1", "9", "10", "01"])
        }
        return text
    }

    /// A range, and versions at its bounds.
    static func range(_ generator: inout SeededGenerator) -> (text: String, bounds: [String]) {
        var bounds: [String] = []
        let sides = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                let (comparator, bound) = comparator(&generator)
                bounds += ["", ".0", ".1", "-0", "-0.0", "-a"].map { bound + $0 }
                return comparator
            }.joined(separator: generator.chance(20) ? "  " : " ")
        }
        return (sides.joined(separator: generator.chance(50) ? " || " : "||"), bounds)
    }

    private static func comparator(_ generator: inout SeededGenerator) -> (text: String, bound: String) {
        let comparison = generator.pick(["<", "<=", ">", ">=", "=", "", "~", "^"]) + (generator.chance(20) ? " " : "")
        let numbers = numbers(&generator)
        let bound = numbers.joined(separator: ".")
        if generator.chance(3) { return (comparison + "x", "0") }
        if generator.chance(25) { return (comparison + bound + ".x", bound) }
        return (comparison + bound + (generator.chance(25) ? "-" + identifiers(&generator) : ""), bound)
    }
}

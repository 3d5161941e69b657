// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

/// Ranges written as people write them who know another grammar, beside what they mean.
@Suite("Range suggestions", .computing, .serialized)
struct RangeSuggestionTests {
    private typealias Comparator = NaiveRange.Comparator

    /// A way to write a side wrongly.
    private enum Style: CaseIterable {
        case otherOperators
        case exclusion
        case listOfBounds
        case listOfVersions
        case missingDot
        case missingSpace
        case spanWithoutSpaces
        case spanWithMore
        case lines
    }

    /// What a side means, as sides of a right range, and how it is written.
    private static func side(_ style: Style, _ random: inout SeededGenerator) -> (sides: [[Comparator]], text: String) {
        switch style {
        case .otherOperators:
            let comparison = random.pick(["<=", ">=", "=", "~"])
            var numbers = VersionPropertyTests.numbers(&random)
            if comparison == "~" { numbers = Array(numbers.prefix(random.pick([1, 3]))) }
            let comparator = Comparator(comparison: comparison, numbers: numbers)
            let sign =
                switch comparison {
                case "<=": "=<"
                case ">=": "=>"
                case "=": random.pick(["==", "==="])
                default: random.pick(["~>", "~="])
                }
            return ([[comparator]], sign + random.pick(["", " "]) + comparator.version)
        case .exclusion:
            let kept = bounds(Int.random(in: 0...2, using: &random), &random)
            let numbers = VersionPropertyTests.numbers(&random)
            let excluded = Comparator(comparison: "!=", numbers: numbers, isFamily: random.chance(30))
            let place = Int.random(in: 0...kept.count, using: &random)
            var words = kept.map { $0.comparison + $0.version }
            words.insert(random.pick(["!=", "<>", "!", "!== ", "!= "]) + excluded.version, at: place)
            return ([kept + [excluded]], words.joined(separator: " "))
        case .listOfBounds:
            let bounds = bounds(Int.random(in: 2...3, using: &random), &random)
            let separator = random.pick([",", ", ", " && ", "&", " and ", " AND "])
            return ([bounds], bounds.map { $0.comparison + $0.version }.joined(separator: separator))
        case .listOfVersions:
            let versions = (0..<Int.random(in: 2...4, using: &random)).map { _ in
                Comparator(comparison: "", numbers: VersionPropertyTests.numbers(&random), isFamily: random.chance(20))
            }
            let separator = random.pick([",", ", ", " or ", " OR ", "|", " | "])
            return (versions.map { [$0] }, versions.map(\.version).joined(separator: separator))
        case .missingDot:
            let family = Comparator(
                comparison: random.pick(["", "<", ">=", "~", "="]),
                numbers: VersionPropertyTests.numbers(&random),
                isFamily: true
            )
            return (
                [[family]], family.comparison + family.numbers.joined(separator: ".") + random.pick(["x", "X", "*"])
            )
        case .missingSpace:
            let bounds = bounds(Int.random(in: 2...3, using: &random), &random)
            return ([bounds], bounds.map { $0.comparison + $0.version }.joined())
        case .spanWithoutSpaces:
            let (first, last) = ends(&random)
            let isPreRelease = first.numbers.count > 1 && last.numbers.count == 1 && !last.isFamily
            let hyphen = isPreRelease ? random.pick(["- ", " -"]) : random.pick(["-", "- ", " -"])
            return ([[first, last]], first.version + hyphen + last.version)
        case .spanWithMore:
            let (first, last) = ends(&random)
            let more = bounds(1, &random)
            let span = "\(first.version) - \(last.version)"
            let words = more.map { $0.comparison + $0.version } + [span]
            return ([[first, last] + more], (random.chance(50) ? words : words.reversed()).joined(separator: " "))
        case .lines:
            let bounds = bounds(Int.random(in: 1...2, using: &random), &random)
            let text = bounds.map { $0.comparison + $0.version }.joined(separator: random.pick(["\n", " \r\n"]))
            return ([bounds], text + "\n")
        }
    }

    private static func bounds(_ count: Int, _ random: inout SeededGenerator) -> [Comparator] {
        (0..<count).map { _ in
            Comparator(comparison: random.pick(["<", "<=", ">", ">="]), numbers: VersionPropertyTests.numbers(&random))
        }
    }

    private static func ends(_ random: inout SeededGenerator) -> (Comparator, Comparator) {
        let last = VersionPropertyTests.numbers(&random)
        return (
            Comparator(comparison: ">=", numbers: VersionPropertyTests.numbers(&random)),
            Comparator(comparison: "<=", numbers: last, isFamily: random.chance(20))
        )
    }

    @Test("A suggested range means what the author of the text meant", arguments: Style.allCases.indices)
    func suggestions(_ index: Int) throws {
        let style = Style.allCases[index]
        var random = SeededGenerator()
        let seed = random.seed
        var suggested = 0
        for _ in 0..<(Trials.isWhole ? 400 : 100) {
            let faulty = Self.side(style, &random)
            let right = Self.bounds(1, &random)
            let hasRightSide = random.chance(30)
            let meant = NaiveRange(sides: faulty.sides + (hasRightSide ? [right] : []))
            let text = faulty.text + (hasRightSide ? " || " + right[0].comparison + right[0].version : "")
            let refusal = #expect(throws: VersionRangeError.self, "\(text), seed \(seed)") { try VersionRange(text) }
            let error = try #require(refusal)
            guard let suggestion = error.suggestion else { continue }
            suggested += 1
            let range = try VersionRange(suggestion)
            let boundaries = meant.sides.joined().flatMap { comparator in
                ["", ".0", ".1", "-0", "-0.0", "-a", ".0.1"].map { comparator.numbers.joined(separator: ".") + $0 }
            }
            for version in boundaries + (0..<20).map({ _ in VersionPropertyTests.version(&random) }) {
                guard let naive = NaiveVersion(version), let read = AppVersion(version) else { continue }
                #expect(
                    range.contains(read) == meant.contains(naive),
                    "\(text) -> \(suggestion), and \(version), seed \(seed)"
                )
            }
        }
        #expect(suggested > 20, "\(style)")
    }

    @Test("Beside its suggestion a hint has no range in it that could be copied")
    func hintsWithoutRanges() throws {
        for fault in try Vectors.cases("range-errors", as: Vectors.RangeFault.self) {
            let refusal = #expect(throws: VersionRangeError.self) { try VersionRange(fault.range) }
            let error = try #require(refusal)
            let words = error.hint.dropLast(error.suggestion.map { $0.count + 2 } ?? 1)
            let tail = words.split(separator: ": ").last ?? words
            #expect(throws: VersionRangeError.self, "\(error.hint)") { try VersionRange(String(tail)) }
        }
    }
}

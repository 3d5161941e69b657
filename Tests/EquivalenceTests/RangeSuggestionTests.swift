import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

/// Ranges written as people write them who know another grammar, beside what they mean.
@Suite("Range suggestions", .migratedDatabase)
struct RangeSuggestionTests {
    /// A comparison with a version; `!=`, which ranges have not, leaves that version out.
    private struct Comparator {
        var comparison: String
        var numbers: [String]
        var isFamily = false

        var version: String { (numbers + (isFamily ? ["x"] : [])).joined(separator: ".") }

        func contains(_ other: AppVersion) -> Bool {
            if comparison == "!=" { return !(VersionRange(version)?.contains(other) ?? false) }
            // One that holds nothing, such as <0.x, is no range.
            return VersionRange(comparison + version)?.contains(other) ?? false
        }
    }

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
            var numbers = RandomVersion.numbers(&random)
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
            let numbers = RandomVersion.numbers(&random)
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
                Comparator(comparison: "", numbers: RandomVersion.numbers(&random), isFamily: random.chance(20))
            }
            // Of 2,1 it cannot be known whether it is 2.1.
            let isOneNumber = versions.allSatisfy { $0.numbers.count == 1 }
            let separator = random.pick([isOneNumber ? ", " : ",", ", ", " or ", " OR ", "|", " | "])
            return (versions.map { [$0] }, versions.map(\.version).joined(separator: separator))
        case .missingDot:
            let family = Comparator(
                comparison: random.pick(["", "<", ">=", "~", "="]), numbers: RandomVersion.numbers(&random),
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
            Comparator(comparison: random.pick(["<", "<=", ">", ">="]), numbers: RandomVersion.numbers(&random))
        }
    }

    private static func ends(_ random: inout SeededGenerator) -> (Comparator, Comparator) {
        let last = RandomVersion.numbers(&random)
        return (
            Comparator(comparison: ">=", numbers: RandomVersion.numbers(&random)),
            Comparator(comparison: "<=", numbers: last, isFamily: random.chance(20))
        )
    }

    /// What SQL says of texts that are no ranges; a hint ends with a range that is suggested, or with a full stop.
    private static func refusals(_ texts: [String]) async throws -> [(message: String?, suggestion: String?)] {
        try await TestDatabase.current.connect().query(
            """
            SELECT error.message, error.hint
              FROM unnest($1::text[]) WITH ORDINALITY AS texts(range, number),
                   versiongate_internal.version_range_error(range) AS error
             ORDER BY number
            """,
            [texts]
        ).map { row in
            let hint = try row.decode("hint", as: String?.self)
            let suggestion = hint.flatMap { $0.hasSuffix(".") ? nil : $0.split(separator: ": ").last.map(String.init) }
            return (try row.decode("message", as: String?.self), suggestion)
        }
    }

    @Test("A suggested range means what the author of the text meant", arguments: Style.allCases.indices)
    func suggestions(_ index: Int) async throws {
        let style = Style.allCases[index]
        var random = SeededGenerator()
        let seed = random.seed
        let cases = (0..<(Trials.areLong ? 400 : 100)).map { _ in
            let faulty = Self.side(style, &random)
            let right = Self.bounds(1, &random)
            let hasRightSide = random.chance(30)
            return (
                meant: faulty.sides + (hasRightSide ? [right] : []),
                text: faulty.text + (hasRightSide ? " || " + right[0].comparison + right[0].version : "")
            )
        }
        var suggested = 0
        for ((meant, text), refusal) in zip(cases, try await Self.refusals(cases.map(\.text))) {
            #expect(refusal.message != nil && VersionRange(text) == nil, "\(text), seed \(seed)")
            guard let suggestion = refusal.suggestion else { continue }
            suggested += 1
            let range = try #require(VersionRange(suggestion), "\(text) -> \(suggestion), seed \(seed)")
            let boundaries = meant.joined().flatMap { comparator in
                ["", ".0", ".1", "-0", "-0.0", "-a", ".0.1"].map { comparator.numbers.joined(separator: ".") + $0 }
            }
            for version in boundaries + (0..<20).map({ _ in RandomVersion.text(&random) }) {
                guard let read = AppVersion(version) else { continue }
                #expect(
                    range.contains(read) == meant.contains { side in side.allSatisfy { $0.contains(read) } },
                    "\(text) -> \(suggestion), and \(version), seed \(seed)"
                )
            }
        }
        #expect(suggested > 20, "\(style)")
    }

    @Test("Beside its suggestion a hint has no range in it that could be copied")
    func hintsWithoutRanges() throws {
        for row in try MeaningTable.rows("refused range") {
            let hint = try #require(row.text("hint"))
            // It ends with a full stop, or with the range that is suggested.
            let words = hint.hasSuffix(".") ? hint.dropLast() : hint.split(separator: ": ").dropLast().last ?? ""
            let tail = words.split(separator: ": ").last ?? words
            #expect(VersionRange(String(tail)) == nil, "\(hint)")
        }
    }
}

import Foundation
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Version properties", .computing, .serialized)
struct VersionPropertyTests {
    @Test("Any two versions compare as their definition says")
    func order() throws {
        var generator = SeededGenerator()
        print("versions: seed \(generator.seed)")
        for _ in 0..<Trials.count(20_000) {
            let left = NaiveVersion.text(&generator)
            let right =
                generator.chance(30) ? left + generator.pick([".0", ".1", "", ".0.0"]) : NaiveVersion.text(&generator)
            guard let naiveLeft = NaiveVersion(left), let naiveRight = NaiveVersion(right) else { continue }
            let first = try #require(AppVersion(left), "\(left)")
            let second = try #require(AppVersion(right), "\(right)")
            let order = first < second ? -1 : second < first ? 1 : 0
            #expect(order == naiveLeft.order(naiveRight), "\(left) \(right), seed \(generator.seed)")
            #expect((order == 0) == (first == second))
        }
    }

    @Test("A random test begins where VERSIONGATE_SEED says, else all of a run where one number says, which is printed")
    func seed() {
        #expect(SeededGenerator().seed == SeededGenerator().seed)
        let given = ProcessInfo.processInfo.environment["VERSIONGATE_SEED"].flatMap { UInt64($0) }
        #expect(given == nil || SeededGenerator().seed == given)
    }

    @Test("Any range holds a version as each of its comparators says")
    func ranges() throws {
        var generator = SeededGenerator()
        print("ranges: seed \(generator.seed)")
        var refused = 0
        for _ in 0..<(Trials.areLong ? 3_000 : 1_000) {
            let range = NaiveRange(
                sides: (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                    (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                        Self.comparator(&generator)
                    }
                }
            )
            let text = range.text(&generator)
            let boundaries = range.sides.joined().flatMap { comparator in
                ["", ".0", ".1", "-0", "-0.0", "-a"].map { suffix in
                    (comparator.numbers.isEmpty ? ["0"] : comparator.numbers).joined(separator: ".") + suffix
                }
            }
            let versions = (0..<40).map { _ in NaiveVersion.text(&generator) } + boundaries
            guard let parsed = VersionRange(text) else {
                refused += 1
                for version in versions {
                    let held = NaiveVersion(version).map(range.contains) ?? false
                    #expect(!held, "\(text) holds \(version), seed \(generator.seed)")
                }
                continue
            }
            for version in versions {
                guard let naive = NaiveVersion(version), let read = AppVersion(version) else { continue }
                #expect(
                    parsed.contains(read) == range.contains(naive),
                    "\(text) and \(version), seed \(generator.seed)"
                )
            }
        }
        #expect(refused > 3)
    }

    private static func comparator(_ generator: inout SeededGenerator) -> NaiveRange.Comparator {
        let comparison = generator.pick(["<", "<=", ">", ">=", "=", "", "~", "^"])
        if generator.chance(25) {
            let numbers = generator.chance(10) ? [] : NaiveVersion.numbers(&generator)
            return NaiveRange.Comparator(comparison: comparison, numbers: numbers, isFamily: true)
        }
        let isBare = comparison.isEmpty
        return NaiveRange.Comparator(
            comparison: comparison, numbers: NaiveVersion.numbers(&generator),
            identifiers: generator.chance(25) ? (isBare ? ["beta"] : NaiveVersion.identifiers(&generator)) : nil
        )
    }
}

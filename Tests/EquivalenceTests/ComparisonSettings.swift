import Foundation
import TestRandom

/// How much is compared, and with which seed: `VERSIONGATE_SEED` and `VERSIONGATE_PAIRS` say it from outside.
struct ComparisonSettings: Sendable {
    /// The seed that was asked for, else one by chance.
    private let seed: UInt64
    private let isSeedGiven: Bool
    /// How many policies and clients are compared in all.
    let pairs = Trials.pairs

    /// The parts that run side by side, each on a database of its own.
    static let parts = [0, 1]

    static let current = ComparisonSettings(ProcessInfo.processInfo.environment)

    /// A seed with which the first part is known to come by every turn that a rule can take.
    private static let coveringSeed: UInt64 = 11

    /// Whether a part must come by every turn: the first, unless its seed was asked for, so that chance fails nobody.
    func requiresCoverage(ofPart part: Int) -> Bool {
        part == 0 && !isSeedGiven && pairs >= 20_000
    }

    /// The seed to name in order to repeat a part.
    func seed(ofPart part: Int) -> UInt64 {
        part == 0 && !isSeedGiven ? Self.coveringSeed : seed
    }

    /// Where the random numbers of a part begin; nowhere else for another part, as far as chance allows.
    func generatorSeed(ofPart part: Int) -> UInt64 {
        var generator = SeededGenerator(seed: seed(ofPart: part))
        for _ in 0..<part { _ = generator.next() }
        return generator.next()
    }

    init(_ environment: [String: String]) {
        let given = environment["VERSIONGATE_SEED"].flatMap { UInt64($0) }
        isSeedGiven = given != nil
        seed = given ?? .random(in: 0...999_999_999)
    }
}

import Foundation

/// A generator of random numbers that repeats itself for the same seed
/// ([SplitMix64](https://prng.di.unimi.it/splitmix64.c)).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// What it began with: the same seed gives the same numbers again.
    public let seed: UInt64
    private var state: UInt64

    /// The seed of the random tests of this process: `VERSIONGATE_SEED`, else one by chance, which is printed.
    public static let ofThisProcess: UInt64 = {
        if let given = ProcessInfo.processInfo.environment["VERSIONGATE_SEED"].flatMap({ UInt64($0) }) { return given }
        let seed = UInt64.random(in: 0...UInt64.max)
        print("random tests: VERSIONGATE_SEED=\(seed) repeats them")
        return seed
    }()

    /// Begins with the seed; without one, with that of this process.
    public init(seed: UInt64 = SeededGenerator.ofThisProcess) {
        self.seed = seed
        state = seed
    }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True so many times in a hundred.
    public mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &self) < percent
    }

    /// One of the elements.
    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }

    /// One to so many different elements.
    public mutating func some<Element>(_ elements: [Element], upTo most: Int) -> [Element] {
        Array(elements.shuffled(using: &self).prefix(Int.random(in: 1...most, using: &self)))
    }

    /// One of the elements; nil where the chance of so many percent fails.
    public mutating func pick<Element>(_ elements: [Element], chance percent: Int) -> Element? {
        chance(percent) ? pick(elements) : nil
    }

    /// One to so many different elements; nil where the chance of so many percent fails.
    public mutating func some<Element>(_ elements: [Element], upTo most: Int, chance percent: Int) -> [Element]? {
        chance(percent) ? some(elements, upTo: most) : nil
    }
}

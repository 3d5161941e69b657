import Foundation

/// Random numbers that a seed repeats: SplitMix64, https://prng.di.unimi.it/splitmix64.c
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The generator of a test: `VERSIONGATE_SEED` repeats the run that printed it.
    static func forTest() -> SeededGenerator {
        let seed = ProcessInfo.processInfo.environment["VERSIONGATE_SEED"].flatMap { UInt64($0) }
        return SeededGenerator(seed: seed ?? .random(in: 0...UInt64.max))
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

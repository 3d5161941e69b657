import Foundation
public import Testing

/// How much is tried.
public enum Trials {
    /// How many policies and clients are compared: `VERSIONGATE_PAIRS`.
    public static let pairs = ProcessInfo.processInfo.environment["VERSIONGATE_PAIRS"].flatMap { Int($0) } ?? 1_000

    /// Whether all tests run: `CI=true`.
    public static let isWhole = ProcessInfo.processInfo.environment["CI"] == "true"

    /// Whether random trials go on for as long as they do at night: `VERSIONGATE_TRIALS=long`.
    public static let areLong = ProcessInfo.processInfo.environment["VERSIONGATE_TRIALS"] == "long"

    /// So many at night, else a tenth, and at least one.
    public static func count(_ whole: Int) -> Int { areLong ? whole : max(1, whole / 10) }
}

extension Trait where Self == ConditionTrait {
    /// The test runs where everything is tried: for pages of the documentation, for files of other programs, for what has
    /// servers, clusters or terminals of its own, and for what takes seconds and a change of the program seldom breaks.
    public static var whole: Self { .enabled(if: Trials.isWhole, "it runs where CI is true") }

    /// The test runs at night: it shows that other tests would find a fault, which a change seldom alters.
    public static var long: Self { .enabled(if: Trials.areLong, "it runs where VERSIONGATE_TRIALS is long") }
}

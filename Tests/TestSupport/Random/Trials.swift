import Foundation
public import Testing

/// How much is tried: everything in `.ci/run`, about a tenth by default.
public enum Trials {
    /// How many policies and clients are compared: `VERSIONGATE_PAIRS`.
    public static let pairs = ProcessInfo.processInfo.environment["VERSIONGATE_PAIRS"].flatMap { Int($0) } ?? 1_000

    /// Whether all tests run, and all rows of tables: `CI=true`.
    public static let isWhole = ProcessInfo.processInfo.environment["CI"] == "true"

    /// So many where everything is tried, else a tenth, and at least one.
    public static func count(_ whole: Int) -> Int { isWhole ? whole : max(1, whole / 10) }

    /// Which quarter of the rows of tables is tried: as `VERSIONGATE_SEED` says, else one by chance.
    private static let quarter: Int = {
        let quarter = Int(SeededGenerator.ofThisProcess % 4)
        if !isWhole { print("rows of tables: quarter \(quarter), as of VERSIONGATE_SEED") }
        return quarter
    }()

    /// All of the rows of a table where everything is tried, else each fourth, and at least one.
    public static func some<Row>(_ rows: [Row]) -> [Row] {
        isWhole ? rows : rows.enumerated().filter { $0.offset % 4 == quarter % min(4, rows.count) }.map(\.element)
    }
}

extension Trait where Self == ConditionTrait {
    /// The test runs where everything is tried: for pages of the documentation, for files of other programs, for what has
    /// servers, clusters or terminals of its own, and for what takes seconds and a change of the program seldom breaks.
    public static var whole: Self { .enabled(if: Trials.isWhole, "it runs where CI is true") }
}

/// A table of counts: the columns that identify a row, and the columns that are summed.
struct CountedTable {
    let name: String
    var time = "hour"
    /// The columns that, together with the time, identify a row.
    let keys: [String]
    let sums: [String]
    /// The constraint that makes rows of the same hour and keys one row.
    let constraint: String

    static let checks = CountedTable(
        name: "public.check_counts", keys: ["bundle", "platform", "version", "build", "region", "os"],
        sums: ["checks", "messages", "lockouts"], constraint: "check_counts_key"
    )

    static let rules = CountedTable(
        name: "public.rule_counts", keys: ["rule"], sums: ["sent", "lockouts"], constraint: "rule_counts_pkey"
    )

    static let merged = CountedTable(
        name: "public.merged_counts", keys: ["bundle"], sums: ["checks"], constraint: "merged_counts_pkey"
    )

    /// Kept by the minute for a day, so it is not rolled up.
    static let lockouts = CountedTable(
        name: "public.lockout_counts", time: "minute", keys: ["rule", "bundle", "revision"],
        sums: ["checks", "lockouts"], constraint: "lockout_counts_key"
    )

    static let all = [checks, rules, merged]

    /// A count as an expression that is never null, and never above what the tables hold: so no sum of counts overflows,
    /// and no row that somebody forged keeps others from being written or read.
    static func bounded(_ count: String) -> String { "least(coalesce(\(count), 0), 1000000000000)::int8" }

    /// The bounded sums of some columns, each under the name of its column.
    static func sums(_ columns: String...) -> String {
        columns.map { "\(bounded("sum(\($0))")) AS \($0)" }.joined(separator: ", ")
    }

    /// A statement that adds the rows of `source` to the table.
    ///
    /// All writers take the rows in the same order, so that they cannot deadlock.
    ///
    /// - Parameters:
    ///   - source: Something with the columns of the table that can stand in FROM.
    ///   - hour: The hour that the rows are added to, as an expression over `source`.
    func addition(of source: String, hour: String? = nil) -> String {
        let hour = hour ?? time
        let keys = keys.joined(separator: ", ")
        let columns = "\(time), \(keys), \(sums.joined(separator: ", "))"
        let totals = sums.map { Self.bounded("sum(\($0))") }.joined(separator: ", ")
        let order = self.keys.map { $0 == "revision" ? $0 : "\($0) COLLATE \"C\"" }.joined(separator: ", ")
        let additions = sums.map { "\($0) = \(Self.bounded("counted.\($0) + excluded.\($0)"))" }.joined(separator: ", ")
        return """
            INSERT INTO \(name) AS counted (\(columns))
            SELECT \(hour), \(keys), \(totals) FROM \(source) GROUP BY \(hour), \(keys) ORDER BY \(hour), \(order)
            ON CONFLICT ON CONSTRAINT \(constraint) DO UPDATE SET \(additions)
            """
    }
}

struct CountedTable {
    let name: String
    var time = "hour"
    let keys: [String]
    let sums: [String]
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

    static func sums(_ columns: String...) -> String {
        columns.map { "\(bounded("sum(\($0))")) AS \($0)" }.joined(separator: ", ")
    }

    /// A statement that adds the rows of `source` to the table, in the hour that an expression over it gives. All writers
    /// take the rows in the same order, so that they cannot deadlock.
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

    /// A statement that adds rows whose columns are arrays: the parameters from a number on.
    func addition(ofParametersFrom first: Int) -> String {
        let types = ["timestamptz"] + keys.map { $0 == "revision" ? "bigint" : "text" } + sums.map { _ in "bigint" }
        let arrays = types.enumerated().map { "$\(first + $0)::\($1)[]" }.joined(separator: ", ")
        let columns = ([time] + keys + sums).joined(separator: ", ")
        return addition(of: "unnest(\(arrays)) AS added (\(columns))")
    }
}

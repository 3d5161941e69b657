import Postgres
import UpdatePolicy

extension CountReader {
    /// The checks of an app by day, platform and version, in order of the day.
    ///
    /// - Parameters:
    ///   - bundle: The app; case does not count.
    ///   - days: How many days before now; the day on which they begin counts as a whole.
    package func dailyCounts(of bundle: String, days: Int) throws -> [PeriodCount] {
        try periodCounts(bundle, since: Self.isRecent, Int64(days))
    }

    /// The checks of an app in a period by day, platform and version, in order of the day.
    package func dailyCounts(of bundle: String, in period: CountPeriod) throws -> [PeriodCount] {
        try periodCounts(
            bundle, since: "hour >= to_timestamp($1::int8 / 1000000.0) AND \(Self.isOver)",
            period.start.microsecondsSince1970
        )
    }

    private func periodCounts(_ bundle: String, since condition: String, _ period: Int64) throws -> [PeriodCount] {
        try session.query(
            """
            SELECT date_trunc('day', hour, 'UTC'), platform, version, \(CountedTable.bounded("sum(checks)")), \(CountedTable.bounded("sum(messages)")),
                \(CountedTable.bounded("sum(lockouts)"))
            FROM public.check_counts
            WHERE \(condition) AND lower(bundle COLLATE "C") = lower($2::text COLLATE "C") AND checks > 0
            GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            """,
            [period, bundle]
        ).map { row in
            PeriodCount(
                start: Timestamp(try row.decode(0, as: PostgresTimestamp.self)),
                platform: try row.decode(1, as: String?.self), version: try row.decode(2, as: String?.self),
                checks: try row.decode(3, as: Int64.self), messages: try row.decode(4, as: Int64.self),
                lockouts: try row.decode(5, as: Int64.self)
            )
        }
    }
}

import Postgres
import TestDatabase
import Testing

@Suite("Timestamps", .database)
struct TimestampTests {
    static let moments: [(String, Int64)] = [
        ("1970-01-01 00:00:00+00", 0),
        ("1969-12-31 23:59:59.999999+00", -1),
        ("2000-01-01 00:00:00+00", 946_684_800_000_000),
        ("2026-02-03 04:05:06.000007+05:45", 1_770_070_806_000_007),
        ("4714-11-24 00:00:00+00 BC", -210_866_803_200_000_000),
        ("294246-01-01 00:00:00+00", 9_223_339_708_800_000_000),
    ]

    @Test("A moment is the same on both sides", arguments: moments)
    func keepsMoments(text: String, microseconds: Int64) async throws {
        let connection = try await TestDatabase.current.connect()
        let moment = PostgresTimestamp(microsecondsSince1970: microseconds)
        let row = try #require(
            await connection.query("SELECT $1::timestamptz = $2, $1::timestamptz", [text, moment]).first
        )
        #expect(try row[0, Bool.self])
        #expect(try row[1, PostgresTimestamp.self] == moment)
    }

    @Test("Moments outside of either range are refused")
    func refusesDistantMoments() async throws {
        let connection = try await TestDatabase.current.connect()
        let row = try #require(
            await connection.query("SELECT '294276-12-31 23:59:59.999999+00'::timestamptz AS at").first
        )
        #expect(throws: PostgresError.self) { try row["at", PostgresTimestamp.self] }
        for microseconds in [Int64.min, -210_866_803_200_000_001] {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query("SELECT $1", [PostgresTimestamp(microsecondsSince1970: microseconds)])
            }
            #expect(error?.code == .encoding)
        }
    }
}

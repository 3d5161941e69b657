import Postgres
import TestDatabase
import Testing
import UpdatePolicy

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
        let moment = Timestamp(microsecondsSince1970: microseconds)
        let row = try #require(
            await connection.query("SELECT $1::timestamptz = $2, $1::timestamptz", [text, moment]).first
        )
        #expect(try row.decode(0, as: Bool.self))
        #expect(try row.decode(1, as: Timestamp.self) == moment)
    }

    @Test("Moments outside of either range are refused")
    func refusesDistantMoments() async throws {
        let connection = try await TestDatabase.current.connect()
        let row = try #require(
            await connection.query("SELECT '294276-12-31 23:59:59.999999+00'::timestamptz AS at").first
        )
        #expect(throws: PostgresError.self) { try row.decode("at", as: Timestamp.self) }
        for microseconds in [Int64.min, -210_866_803_200_000_001] {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query("SELECT $1", [Timestamp(microsecondsSince1970: microseconds)])
            }
            #expect(error?.code == .encoding)
        }
    }

    @Test("A moment that is none, and another type, are refused by name")
    func refusesOtherValues() async throws {
        let connection = try await TestDatabase.current.connect()
        let refused = [
            ("'infinity'::timestamptz", "it is infinity, which is not a point in time"),
            ("'-infinity'::timestamptz", "it is -infinity, which is not a point in time"),
            ("'2026-01-01'::timestamp", "it has the type timestamp without time zone where a timestamp is wanted"),
        ]
        for (sql, fault) in refused {
            let row = try #require(await connection.query("SELECT \(sql) AS c").first)
            let error = #expect(throws: PostgresError.self, "\(sql)") { try row.decode("c", as: Timestamp.self) }
            #expect(error?.message == "column c: \(fault)")
        }
    }

    @Test("Arrays of moments keep their values, whatever the settings of the session")
    func keepsArrays() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute("SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Kathmandu'")
        let moments = [0, -1, 1_700_000_000_123_456].map(Timestamp.init(microsecondsSince1970:))
        #expect(try await connection.query("SELECT $1", [moments]).value(as: [Timestamp].self) == moments)
    }
}

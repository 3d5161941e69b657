import Postgres
import TestDatabase
import Testing

@Suite("Arrays", .database)
struct ArrayTests {
    static let awkward = [
        "", " ", "NULL", "null", "\"", "\\", "'", "{", "}", "{}", ",", ";", "a,b", "\"quoted\"", "back\\slash", "\n",
        "\t", "日本語", "👩‍👩‍👧", "e\u{301}", "$1", "%", String(repeating: "long ", count: 10_000),
    ]

    @Test("Text with every awkward character comes back as it was sent")
    func keepsText() async throws {
        let connection = try await TestDatabase.current.connect()
        #expect(try await connection.query("SELECT $1::text[]", [Self.awkward]).value() == Self.awkward)
        let members = try await connection.query("SELECT unnest($1::text[])", [Self.awkward])
        #expect(try members.map { row throws(PostgresError) in try row[0, String.self] } == Self.awkward)
    }

    @Test("NULL elements are nil")
    func readsNullElements() async throws {
        let connection = try await TestDatabase.current.connect()
        let texts: [String?] = ["a", nil, "NULL", ""]
        let result = try await connection.query("SELECT $1::text[] AS texts", [texts])
        #expect(try result.value(as: [String?].self) == texts)
    }

    @Test("The empty array is not NULL")
    func keepsEmptyArrays() async throws {
        let connection = try await TestDatabase.current.connect()
        let row = try #require(
            await connection.query("SELECT $1::text[], NULL::text[], '{}'::int[]", [[String]()]).first
        )
        #expect(try row[0, [String].self] == [])
        #expect(try row[1, [String]?.self] == nil)
        #expect(try row[2, [Int]?.self] == [])
    }

    @Test("Arrays of every type keep their values")
    func keepsValues() async throws {
        let connection = try await TestDatabase.current.connect()
        let moments = [0, -1, 1_700_000_000_000_000].map(PostgresTimestamp.init(microsecondsSince1970:))
        let row = try #require(
            await connection.query(
                "SELECT $1, $2, $3, $4, $5, $6, $7, $8",
                [
                    [true, false], [Int16.min, .max], [Int32.min, .max], [Int64.min, .max], [Int.min, .max],
                    [-0.5, .infinity], moments, [[], [0, 255], [1]] as [[UInt8]],
                ]
            ).first
        )
        #expect(try row[0, [Bool].self] == [true, false])
        #expect(try row[1, [Int16].self] == [.min, .max])
        #expect(try row[2, [Int32].self] == [.min, .max])
        #expect(try row[3, [Int64].self] == [.min, .max])
        #expect(try row[4, [Int].self] == [.min, .max])
        #expect(try row[5, [Double].self] == [-0.5, .infinity])
        #expect(try row[6, [PostgresTimestamp].self] == moments)
        #expect(try row[7, [[UInt8]].self] == [[], [0, 255], [1]])
    }

    @Test("Arrays with other bounds are read")
    func readsOtherBounds() async throws {
        let connection = try await TestDatabase.current.connect()
        #expect(try await connection.query("SELECT '[5:6]={7,8}'::int[]").value() == [7, 8])
    }
}

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
        #expect(try members.map { row throws(PostgresError) in try row.decode(0, as: String.self) } == Self.awkward)
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
        #expect(try row.decode(0, as: [String].self) == [])
        #expect(try row.decode(1, as: [String]?.self) == nil)
        #expect(try row.decode(2, as: [Int]?.self) == [])
    }

    @Test("Arrays of every type keep their values")
    func keepsValues() async throws {
        let connection = try await TestDatabase.current.connect()
        let row = try #require(
            await connection.query(
                "SELECT $1, $2, $3, $4, $5, $6",
                [
                    [true, false], [Int16.min, .max], [Int32.min, .max], [Int64.min, .max], [Int.min, .max],
                    [-0.5, .infinity],
                ]
            ).first
        )
        #expect(try row.decode(0, as: [Bool].self) == [true, false])
        #expect(try row.decode(1, as: [Int16].self) == [.min, .max])
        #expect(try row.decode(2, as: [Int32].self) == [.min, .max])
        #expect(try row.decode(3, as: [Int64].self) == [.min, .max])
        #expect(try row.decode(4, as: [Int].self) == [.min, .max])
        #expect(try row.decode(5, as: [Double].self) == [-0.5, .infinity])
    }

    @Test("Arrays with other bounds are read")
    func readsOtherBounds() async throws {
        let connection = try await TestDatabase.current.connect()
        #expect(try await connection.query("SELECT '[5:6]={7,8}'::int[]").value() == [7, 8])
    }
}

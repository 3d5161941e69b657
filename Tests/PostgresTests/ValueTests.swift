import Postgres
import TestDatabase
import Testing

@Suite("Values", .database)
struct ValueTests {
    /// Text with every character that means something in the text of an array, in SQL or elsewhere.
    static let texts = [
        "", " ", "NULL", "null", "\"", "\\", "'", "{", "}", "{}", ",", ";", "a,b", "\"quoted\"", "back\\slash", "\n",
        "\t \r", "日本語", "👩‍👩‍👧", "e\u{301}", "$1", "%", "\u{1}\u{7f}\u{80}\u{10FFFF}",
        String(repeating: "x", count: 1 << 18),
    ]

    @Test("Text comes back as it was sent, alone and in an array")
    func keepsText() async throws {
        let connection = try await TestDatabase.current.connect()
        for text in Self.texts {
            let sql = "SELECT $1::text AS text, octet_length($1) AS length"
            let row = try #require(await connection.query(sql, [text]).first)
            #expect(try row.decode("text", as: String.self) == text)
            #expect(try row.decode("length", as: Int.self) == text.utf8.count)
        }
        #expect(try await connection.query("SELECT $1::text[]", [Self.texts]).value() == Self.texts)
        let members = try await connection.query("SELECT unnest($1::text[])", [Self.texts])
        #expect(try members.map { row throws(PostgresError) in try row.decode(0, as: String.self) } == Self.texts)
    }

    @Test("A NUL in text is refused before anything is sent")
    func refusesNUL() async throws {
        let connection = try await TestDatabase.current.connect()
        for parameter: any PostgresEncodable in ["a\0b", ["a", "\0"]] {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.query("SELECT $1::text, $2", [1, parameter])
            }
            #expect(error?.code == .encoding)
            #expect(error?.message.hasPrefix("parameter $2: ") == true)
        }
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT 1\0 + 1") }
        #expect(error?.code == .encoding)
        #expect(try await connection.query("SELECT 1").value() == 1)
    }

    @Test("NULL is nil, also in an array, and the empty array is not NULL")
    func readsNull() async throws {
        let connection = try await TestDatabase.current.connect()
        let nothing: String? = nil
        let texts = ["a", nil, "NULL", ""]
        let result = try await connection.query(
            "SELECT $1::text, $2::int, ''::text, $4::text[], $3::text[], NULL::text[], '{}'::int[]",
            [nothing, nil, [String](), texts]
        )
        let row = try #require(result.first)
        #expect(try row.decode(0, as: String?.self) == nil)
        #expect(try row.decode(1, as: Int?.self) == nil)
        #expect(try row.decode(2, as: String?.self) == "")
        #expect(try row.decode(3, as: [String?].self) == texts)
        #expect(try row.decode(4, as: [String].self) == [])
        #expect(try row.decode(5, as: [String]?.self) == nil)
        #expect(try row.decode(6, as: [Int]?.self) == [])
        #expect(try await connection.query("SELECT '[5:6]={7,8}'::int[]").value() == [7, 8], "other bounds")
    }

    @Test("Integers and booleans come back as they were sent, alone and in an array")
    func keepsValues() async throws {
        let connection = try await TestDatabase.current.connect()
        func keep<Value: PostgresEncodable & PostgresArrayElement & PostgresDecodable & Equatable>(
            _ values: [Value]
        ) async throws {
            for value in values { #expect(try await connection.query("SELECT $1", [value]).value() == value) }
            #expect(try await connection.query("SELECT $1", [values]).value() == values)
        }
        try await keep([true, false])
        try await keep([Int16.min, -1, .max])
        try await keep([Int32.min, -1, .max])
        try await keep([Int64.min, -1, .max])
        try await keep([Int.min, -1, .max])
        let row = try #require(await connection.query("SELECT $1, $2", [Int64.min, Int32.min]).first)
        #expect(throws: PostgresError.self) { try row.decode(0, as: Int32.self) }
        #expect(throws: PostgresError.self) { try row.decode(1, as: Int16.self) }
    }

    @Test("Floating-point numbers keep every bit")
    func keepsFloats() async throws {
        let connection = try await TestDatabase.current.connect()
        let numbers = [
            0, -0.0, 0.1, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity, .nan,
        ]
        for number in numbers {
            let returned: Double = try await connection.query("SELECT $1", [number]).value()
            #expect(returned.bitPattern == number.bitPattern)
        }
        #expect(
            try await connection.query("SELECT $1", [[-0.5, .infinity]]).value(as: [Double].self) == [-0.5, .infinity]
        )
        #expect(try await connection.query("SELECT 0.5::real").value() == 0.5)
    }

    @Test("Uuids, JSON and the kinds of text are read")
    func readsOtherTypes() async throws {
        let connection = try await TestDatabase.current.connect()
        let uuid = "0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f"
        let row = try #require(
            await connection.query(
                "SELECT $1::uuid, $2::jsonb, $3::json, 'x'::name, 'y'::char(3), 'z'::\"char\"",
                [uuid.uppercased(), "{\"b\":1, \"a\":[]}", "{ }"]
            ).first
        )
        let texts = try (0..<6).map { try row.decode($0, as: String.self) }
        #expect(texts == [uuid, "{\"a\": [], \"b\": 1}", "{ }", "x", "y  ", "z"])
    }

    @Test("Values do not depend on the settings of the session")
    func ignoresSettings() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(
            "SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Kathmandu'; SET extra_float_digits = -15;"
                + " SET IntervalStyle = iso_8601"
        )
        #expect(try await connection.query("SELECT $1", [1.0 / 3]).value(as: Double.self) == 1.0 / 3)
    }

    @Test("Large values cross in both directions while the connection does other work")
    func crossesLargeValues() async throws {
        let connection = try await TestDatabase.current.connect()
        let text = String(repeating: "0123456789abcdef", count: 1 << 18)
        let copies: String = try await connection.query("SELECT $1::text || $2::text", [text, text]).value()
        #expect(copies.utf8.count == 2 * text.utf8.count)
    }
}

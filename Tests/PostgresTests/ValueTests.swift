import Postgres
import TestDatabase
import Testing

@Suite("Values", .database)
struct ValueTests {
    static let texts = [
        "", "plain", "Grüße, 世界 👩‍👩‍👧 \u{301}e", "quote ' \" \\ { } , \n \t \r", "NULL", "\u{1}\u{7f}\u{80}\u{10FFFF}",
        String(repeating: "x", count: 1 << 18),
    ]

    @Test("Text comes back as it was sent", .sharedDatabase(), arguments: texts)
    func keepsText(text: String) async throws {
        let connection = try await TestDatabase.current.connect()
        let row = try #require(
            await connection.query("SELECT $1::text AS text, octet_length($1) AS length", [text]).first
        )
        #expect(try row.decode("text", as: String.self) == text)
        #expect(try row.decode("length", as: Int.self) == text.utf8.count)
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

    @Test("NULL is nil")
    func readsNull() async throws {
        let connection = try await TestDatabase.current.connect()
        let nothing: String? = nil
        let result = try await connection.query("SELECT $1::text AS a, $2::int AS b, ''::text AS c", [nothing, nil])
        let row = try #require(result.first)
        #expect(try row.decode("a", as: String?.self) == nil)
        #expect(try row.decode("b", as: Int?.self) == nil)
        #expect(try row.decode("c", as: String?.self) == "")
    }

    @Test("Integers keep their limits")
    func keepsIntegers() async throws {
        let connection = try await TestDatabase.current.connect()
        let row = try #require(
            await connection.query(
                "SELECT $1, $2, $3, $4, $5, $6, $7::int2, $8::int4",
                [Int64.min, Int64.max, Int32.min, Int32.max, Int16.min, Int16.max, Int16(-1), Int32(-1)]
            ).first
        )
        #expect(try row.decode(0, as: Int64.self) == .min)
        #expect(try row.decode(1, as: Int.self) == .max)
        #expect(try row.decode(2, as: Int32.self) == .min)
        #expect(try row.decode(3, as: Int32.self) == .max)
        #expect(try row.decode(4, as: Int16.self) == .min)
        #expect(try row.decode(5, as: Int16.self) == .max)
        #expect(try row.decode(6, as: Int64.self) == -1)
        #expect(try row.decode(7, as: Int16.self) == -1)
        #expect(throws: PostgresError.self) { try row.decode(0, as: Int32.self) }
        #expect(throws: PostgresError.self) { try row.decode(2, as: Int16.self) }
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
        #expect(try await connection.query("SELECT 0.5::real").value() == 0.5)
    }

    @Test("Booleans, uuids and JSON are read")
    func readsOtherTypes() async throws {
        let connection = try await TestDatabase.current.connect()
        let uuid = "0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f"
        let row = try #require(
            await connection.query(
                "SELECT $1::bool, $2::bool, $3::uuid, $4::jsonb, $5::json, 'x'::name, 'y'::char(3), 'z'::\"char\"",
                [true, false, uuid.uppercased(), "{\"b\":1, \"a\":[]}", "{ }"]
            ).first
        )
        #expect(try row.decode(0, as: Bool.self))
        #expect(try !row.decode(1, as: Bool.self))
        #expect(try row.decode(2, as: String.self) == uuid)
        #expect(try row.decode(3, as: String.self) == "{\"a\": [], \"b\": 1}")
        #expect(try row.decode(4, as: String.self) == "{ }")
        #expect(try row.decode(5, as: String.self) == "x")
        #expect(try row.decode(6, as: String.self) == "y  ")
        #expect(try row.decode(7, as: String.self) == "z")
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

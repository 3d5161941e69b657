import Postgres
import TestDatabase
import Testing

@Suite("Results", .database)
struct ResultTests {
    @Test("An error of decoding names the column, its type and what was wanted")
    func explainsDecoding() async throws {
        let connection = try await TestDatabase.current.connect()
        let refused: [(sql: String, read: (PostgresRow) throws -> Any, fault: String)] = [
            ("'x'::text", { try $0.decode("c", as: Int.self) }, "it has the type text where an integer is wanted"),
            ("1::int", { try $0.decode("c", as: String.self) }, "it has the type integer where text is wanted"),
            ("1::int", { try $0.decode("c", as: Bool.self) }, "it has the type integer where a boolean is wanted"),
            (
                "1.5", { try $0.decode("c", as: Double.self) },
                "it has the type numeric where a floating-point number is wanted"
            ),
            ("NULL::text", { try $0.decode("c", as: String.self) }, "it is NULL where text is wanted"),
            ("'{a,NULL}'::text[]", { try $0.decode("c", as: [String].self) }, "it is NULL where text is wanted"),
            ("1::bigint", { try $0.decode("c", as: [Int].self) }, "it has the type bigint where an array is wanted"),
            ("'{1}'::int[]", { try $0.decode("c", as: [String].self) }, "it has the type integer where text is wanted"),
            (
                "'{{1},{2}}'::int[]", { try $0.decode("c", as: [Int].self) },
                "its array has 2 dimensions where one is wanted"
            ),
        ]
        for (sql, read, fault) in refused {
            let row = try #require(await connection.query("SELECT \(sql) AS c").first)
            let error = #expect(throws: PostgresError.self, "\(sql)") { try read(row) }
            #expect(error?.code == .decoding, "\(sql)")
            #expect(error?.message == "column c: \(fault)")
        }
    }

    @Test("A column that is not there is named beside those that are")
    func namesMissingColumns() async throws {
        let connection = try await TestDatabase.current.connect()
        let row = try #require(await connection.query("SELECT 1 AS a, 2 AS b").first)
        let byName = #expect(throws: PostgresError.self) { try row.decode("c", as: Int.self) }
        #expect(byName?.message == "the result has no column named c; it has: a, b")
        for place in [-1, 2] {
            #expect(throws: PostgresError.self) { try row.decode(place, as: Int.self) }
        }
    }

    @Test("Columns, rows and counts are those of the statement")
    func describesTheStatement() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute("CREATE TABLE t (id int PRIMARY KEY, word text)")
        let inserted = try await connection.query("INSERT INTO t SELECT g, 'w' || g FROM generate_series(1, 5) g")
        #expect(inserted.affectedRows == 5)
        #expect(inserted.commandTag == "INSERT 0 5")
        #expect(inserted.isEmpty)
        let selected = try await connection.query("SELECT * FROM t WHERE id > $1 ORDER BY id", [3])
        #expect(selected.columns.map(\.name) == ["id", "word"])
        #expect(selected.columns.map(\.type) == [.int4, .text])
        #expect(
            try selected.map { row throws(PostgresError) in try row.decode("word", as: String.self) } == ["w4", "w5"])
        #expect(throws: PostgresError.self) { try selected.value(as: Int.self) }
        let nothing = try await connection.query("SELECT 1 AS none WHERE false")
        #expect(nothing.columns.map(\.name) == ["none"])
        #expect(throws: PostgresError.self) { try nothing.value(as: Int.self) }
    }

    @Test("An empty statement is an error, an empty script is not")
    func refusesEmptyStatements() async throws {
        let connection = try await TestDatabase.current.connect()
        await #expect(throws: PostgresError.self) { try await connection.query("  ") }
        try await connection.execute(" ; ")
        #expect(try await connection.query("SELECT 1").value() == 1)
    }

    @Test("A hundred thousand rows are read, and keep their values beyond their connection")
    func keepsRows() async throws {
        let connection = try await TestDatabase.current.connect()
        let rows = try await connection.query("SELECT g, 'word ' || g FROM generate_series(1, $1) g", [100_000])
        await connection.close()
        #expect(try rows.reduce(0) { try $0 + $1.decode(0, as: Int.self) } == 5_000_050_000)
        #expect(try rows.reduce(0) { try $0 + $1.decode(1, as: String.self).utf8.count } == 988_895)
    }

    @Test("COPY is refused instead of waiting for ever")
    func refusesCopy() async throws {
        for statement in ["COPY (SELECT 1) TO STDOUT", "CREATE TABLE t (id int); COPY t FROM STDIN"] {
            let connection = try await TestDatabase.current.connect()
            let error = await #expect(throws: PostgresError.self) { try await connection.execute(statement) }
            #expect(error?.code == .misuse)
            #expect(await !connection.isHealthy)
        }
    }
}

import Postgres
import TestDatabase
import Testing

@Suite("Results", .database)
struct ResultTests {
    @Test("An error of decoding names the column, its type and what was wanted")
    func explainsDecoding() async throws {
        let connection = try await TestDatabase.current.connect()
        let refused: [(sql: String, read: (PostgresRow) throws -> Any, fault: String)] = [
            ("'x'::text", { try $0["c", Int.self] }, "it has the type text where an integer is wanted"),
            ("1::int", { try $0["c", String.self] }, "it has the type integer where text is wanted"),
            ("1::int", { try $0["c", Bool.self] }, "it has the type integer where a boolean is wanted"),
            ("1.5", { try $0["c", Double.self] }, "it has the type numeric where a floating-point number is wanted"),
            ("NULL::text", { try $0["c", String.self] }, "it is NULL where text is wanted"),
            ("'{a,NULL}'::text[]", { try $0["c", [String].self] }, "it is NULL where text is wanted"),
            ("1::bigint", { try $0["c", [Int].self] }, "it has the type bigint where an array is wanted"),
            ("'a'::text", { try $0["c", [UInt8].self] }, "it has the type text where bytes is wanted"),
            ("'{1}'::int[]", { try $0["c", [String].self] }, "it has the type integer where text is wanted"),
            ("'{{1},{2}}'::int[]", { try $0["c", [Int].self] }, "its array has 2 dimensions where one is wanted"),
            (
                "'infinity'::timestamptz", { try $0["c", PostgresTimestamp.self] },
                "it is infinity, which is no point in time"
            ),
            (
                "'-infinity'::timestamptz", { try $0["c", PostgresTimestamp.self] },
                "it is -infinity, which is no point in time"
            ),
            (
                "'2026-01-01'::timestamp", { try $0["c", PostgresTimestamp.self] },
                "it has the type timestamp without time zone where a timestamp is wanted"
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
        let byName = #expect(throws: PostgresError.self) { try row["c", Int.self] }
        #expect(byName?.message == "the result has no column named c; it has: a, b")
        for place in [-1, 2] {
            #expect(throws: PostgresError.self) { try row[place, Int.self] }
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
        #expect(try selected.map { row throws(PostgresError) in try row["word", String.self] } == ["w4", "w5"])
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

    @Test("A hundred thousand rows are read one by one")
    func streamsRows() async throws {
        let connection = try await TestDatabase.current.connect()
        let sum = try await connection.withSession { session in
            var sum = 0
            var text = 0
            try session.query("SELECT g, 'word ' || g FROM generate_series(1, $1) g", [100_000]) { row in
                sum += try row[0, Int.self]
                text += try row[1, String.self].utf8.count
            }
            #expect(text == 988_895)
            return sum
        }
        #expect(sum == 5_000_050_000)
    }

    @Test("Rows keep their values beyond their session")
    func keepsRows() async throws {
        let connection = try await TestDatabase.current.connect()
        let rows = try await connection.withSession { session in
            var rows: [PostgresRow] = []
            try session.query("SELECT 'row ' || g AS text FROM generate_series(1, 3) g") { rows.append($0) }
            return rows
        }
        await connection.close()
        #expect(
            try rows.map { row throws(PostgresError) in try row["text", String.self] } == ["row 1", "row 2", "row 3"]
        )
    }

    @Test("An error in the reading of a row ends the reading and keeps the connection")
    func endsReading() async throws {
        struct Enough: Error {}
        let connection = try await TestDatabase.current.connect()
        let answer = try await connection.withSession { session in
            #expect(throws: Enough.self) {
                try session.query("SELECT generate_series(1, 1000)") { row in
                    if try row[0, Int.self] == 3 { throw Enough() }
                }
            }
            return try session.query("SELECT 7").value(as: Int.self)
        }
        #expect(answer == 7)
    }

    @Test("An error of the server among the rows is thrown after those before it")
    func throwsAfterRows() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.withSession { session in
            var seen = 0
            let error = #expect(throws: PostgresError.self) {
                try session.query("SELECT 1 / (3 - g) FROM generate_series(1, 5) g") { _ in seen += 1 }
            }
            #expect(error?.sqlState?.rawValue == "22012")
            #expect(seen == 2)
        }
    }

    @Test("A session cannot be used while it reads rows, nor after its end")
    func isExclusive() async throws {
        let connection = try await TestDatabase.current.connect()
        let answer = try await connection.withSession { session in
            let error = #expect(throws: PostgresError.self) {
                try session.query("SELECT 1") { _ in _ = try session.query("SELECT 2") }
            }
            #expect(error?.code == .closed)
            return try session.query("SELECT 3").value(as: Int.self)
        }
        #expect(answer == 3)
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

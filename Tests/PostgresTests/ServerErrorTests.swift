import Postgres
import TestDatabase
import Testing

@Suite("Server errors", .database)
struct ServerErrorTests {
    @Test("A violated constraint is named with SQLSTATE, table and column")
    func namesTheConstraint() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(
            """
            CREATE TABLE fruit (
                name text NOT NULL CONSTRAINT fruit_name_key UNIQUE,
                weight int CONSTRAINT fruit_weight_positive CHECK (weight > 0)
            );
            INSERT INTO fruit VALUES ('secret-apple', 1);
            """
        )
        let duplicate = await #expect(throws: PostgresError.self) {
            try await connection.query("INSERT INTO fruit VALUES ($1, 2)", ["secret-apple"])
        }
        #expect(duplicate?.code == .server)
        #expect(duplicate?.sqlState?.rawValue == "23505")
        #expect(duplicate?.severity == "ERROR")
        #expect(duplicate?.constraint == "fruit_name_key")
        #expect(duplicate?.table == "fruit")
        #expect(duplicate?.detail?.contains("secret-apple") == true)
        #expect(duplicate.map { "\($0)" }?.contains("secret-apple") == false)

        let negative = await #expect(throws: PostgresError.self) {
            try await connection.query("INSERT INTO fruit VALUES ('pear', -1)")
        }
        #expect(negative?.constraint == "fruit_weight_positive")
        #expect(negative?.sqlState?.isIntegrityViolation == true)
        let missing = await #expect(throws: PostgresError.self) {
            try await connection.query("INSERT INTO fruit VALUES (NULL, 1)")
        }
        #expect(missing?.sqlState?.rawValue == "23502")
        #expect(missing?.column == "name")
    }

    @Test("Message, detail and hint of a RAISE arrive as they were written")
    func keepsRaise() async throws {
        let connection = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute(
                """
                DO $$ BEGIN
                    RAISE EXCEPTION 'the rule ü cannot stand' USING DETAIL = 'because', HINT = 'write it anew',
                        ERRCODE = '23514', CONSTRAINT = 'rules_check', TABLE = 'rules', COLUMN = 'versions',
                        DATATYPE = '{"key": "ü"}';
                END $$
                """
            )
        }
        #expect(error?.message == "the rule ü cannot stand")
        #expect(error?.detail == "because")
        #expect(error?.hint == "write it anew")
        #expect(error?.sqlState?.rawValue == "23514")
        #expect(error?.dataType == #"{"key": "ü"}"#)
        #expect(error?.constraint == "rules_check")
        #expect(error?.table == "rules")
        #expect(error?.column == "versions")
    }

    @Test("The description of an error shows no value")
    func showsNoValue() async throws {
        let connection = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("SELECT $1::int", ["secret-value"])
        }
        #expect(error?.message.contains("secret-value") == true)
        #expect(error?.description == "server error 22P02")
    }

    @Test("A fault in the statement is described")
    func describesFaults() async throws {
        let connection = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT 1 FROM nowhere") }
        #expect(error?.sqlState == .undefinedTable)
        #expect(error?.description == "server error 42P01: relation \"nowhere\" does not exist")
    }

    @Test("Of several statements the first that fails ends them and undoes all")
    func undoesScripts() async throws {
        let connection = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("CREATE TABLE a (); SELECT 1 / 0; CREATE TABLE b ()")
        }
        #expect(error?.sqlState?.rawValue == "22012")
        #expect(try await connection.query("SELECT to_regclass('a') IS NULL").value())
    }

    @Test("A statement timeout of the server ends the statement and keeps the connection")
    func statementTimeout() async throws {
        var configuration = TestDatabase.current.configuration()
        configuration.statementTimeout = .milliseconds(20)
        let connection = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        let error = await #expect(throws: PostgresError.self) { try await connection.query("SELECT pg_sleep(600)") }
        #expect(error?.code == .server)
        #expect(error?.sqlState == .queryCanceled)
        #expect(try await connection.query("SELECT 1").value() == 1)
    }

    @Test("A lock timeout of the server ends the wait for a lock")
    func lockTimeout() async throws {
        var configuration = TestDatabase.current.configuration()
        configuration.lockTimeout = .milliseconds(20)
        let waiter = try await PostgresConnection.connect(configuration, logger: TestDatabase.logger)
        let holder = try await TestDatabase.current.connect()
        try await holder.execute("SELECT pg_advisory_lock(1)")
        let error = await #expect(throws: PostgresError.self) {
            try await waiter.execute("SELECT pg_advisory_lock(1)")
        }
        #expect(error?.sqlState == .lockNotAvailable)
        await holder.close()
    }
}

import Postgres
import TestDatabase
import Testing

@Suite("Server errors", .database)
struct ServerErrorTests {
    @Test(
        "What a RAISE says of an error arrives as it was written; its description shows no detail, which may quote rows"
    )
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
        #expect(error?.code == .server)
        #expect(error?.severity == "ERROR")
        #expect(error?.sqlState?.rawValue == "23514")
        #expect(error?.sqlState?.isIntegrityViolation == true)
        #expect(error?.dataType == #"{"key": "ü"}"#)
        #expect(error?.constraint == "rules_check")
        #expect(error?.table == "rules")
        #expect(error?.column == "versions")
        #expect(error?.description == "server error 23514: the rule ü cannot stand (constraint rules_check)")
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
}

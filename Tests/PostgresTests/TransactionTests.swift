import Postgres
import TestDatabase
import Testing

@Suite("Transactions", .database)
struct TransactionTests {
    struct Refusal: Error {}

    @Test("What the body did is undone when it throws")
    func rollsBack() async throws {
        let connection = try await TestDatabase.current.connect()
        await #expect(throws: Refusal.self) {
            try await connection.transaction { session in
                try session.execute("CREATE TABLE t (id int)")
                throw Refusal()
            }
        }
        #expect(try await connection.query("SELECT to_regclass('t') IS NULL").value())
    }

    @Test("A deferred constraint is an error at the commit")
    func checksAtTheCommit() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(
            """
            CREATE TABLE parent (id int PRIMARY KEY);
            CREATE TABLE child (parent int CONSTRAINT child_parent_fkey REFERENCES parent DEFERRABLE INITIALLY DEFERRED)
            """
        )
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { session in
                try session.query("INSERT INTO child VALUES (1)")
            }
        }
        #expect(error?.constraint == "child_parent_fkey")
        #expect(error?.sqlState?.rawValue == "23503")
        #expect(try await connection.query("SELECT count(*) FROM child").value() == 0)
    }

    @Test("An error that the body swallowed is thrown in place of the commit")
    func throwsSwallowedErrors() async throws {
        let connection = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { session in
                try session.execute("CREATE TABLE t (id int)")
                _ = try? session.query("SELECT * FROM nowhere")
                _ = try? session.query("SELECT 1")
            }
        }
        #expect(error?.sqlState == .undefinedTable)
        #expect(try await connection.query("SELECT to_regclass('t') IS NULL").value())
    }

    @Test("A body can decide to commit or to roll back, and gives its value either way")
    func returnsItsDecision() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute("CREATE TABLE t (id int)")
        for commits in [false, true] {
            let count: Int = try await connection.transaction(deciding: { session in
                try session.execute("INSERT INTO t VALUES (1)")
                let count: Int = try session.query("SELECT count(*) FROM t").value()
                return commits ? .commit(count) : .rollback(count)
            })
            #expect(count == 1)
            #expect(try await connection.query("SELECT count(*) FROM t").value() == (commits ? 1 : 0))
        }
        let value = try await connection.transaction(deciding: { session -> PostgresTransactionEnd<String> in
            _ = try? session.execute("nonsense")
            return .rollback("rolled back after an error")
        })
        #expect(value == "rolled back after an error")
        #expect(try await connection.query("SELECT 1").value() == 1)
    }

    @Test("A body that ends the transaction by itself is an error", arguments: ["COMMIT", "ROLLBACK"])
    func refusesEndings(statement: String) async throws {
        let connection = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { session in try session.execute(statement) }
        }
        #expect(error?.code == .misuse)
        #expect(try await connection.query("SELECT 1").value() == 1)
    }

    @Test("A transaction left open by a session is rolled back and reported")
    func reportsOpenTransactions() async throws {
        let connection = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.execute("BEGIN; CREATE TABLE t (id int)")
        }
        #expect(error?.code == .misuse)
        #expect(try await connection.query("SELECT to_regclass('t') IS NULL").value())
    }

    @Test("Reading at one moment sees nothing that is committed later, and cannot write")
    func readsOneMoment() async throws {
        let reader = try await TestDatabase.current.connect()
        let writer = try await TestDatabase.current.connect()
        try await reader.execute("CREATE TABLE t (id int)")
        let counts = try await reader.transaction(.repeatableReadReadOnly) { session in
            let before: Int = try session.query("SELECT count(*) FROM t").value()
            session.hold { try await writer.query("INSERT INTO t VALUES (1)") }
            return [before, try session.query("SELECT count(*) FROM t").value()]
        }
        #expect(counts == [0, 0])
        let error = await #expect(throws: PostgresError.self) {
            try await reader.transaction(.repeatableReadReadOnly) { session in
                try session.query("INSERT INTO t VALUES (2)")
            }
        }
        #expect(error?.sqlState == .readOnlyTransaction)
    }

    @Test("A transaction does not depend on the defaults of the session")
    func ignoresDefaults() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(
            "SET default_transaction_read_only = on; SET default_transaction_isolation = serializable"
        )
        let level = try await connection.transaction { session in
            try session.execute("CREATE TABLE t (id int)")
            return try session.query("SHOW transaction_isolation").value(as: String.self)
        }
        #expect(level == "read committed")
    }

    @Test("Nothing comes between the statements of a transaction")
    func isExclusive() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute("CREATE TABLE t (id int)")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for round in 0..<50 {
                group.addTask {
                    try await connection.transaction { session in
                        try session.query("INSERT INTO t VALUES ($1)", [round])
                        return try session.query("SELECT count(*) FROM t WHERE xmin::text = pg_current_xact_id()::text")
                            .value()
                    }
                }
            }
            for try await count in group { #expect(count == 1) }
        }
    }

    @Test("Losing the connection in a transaction undoes it")
    func isUndoneByLoss() async throws {
        let database = TestDatabase.current
        let connection = try await database.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { session in
                try session.execute("CREATE TABLE t (id int)")
                try session.query("SELECT pg_terminate_backend(pg_backend_pid())")
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.sqlState?.rawValue == "57P01")
        let again = try await database.connect()
        #expect(try await again.query("SELECT to_regclass('t') IS NULL").value())
    }

    @Test("Where the connection is lost at the commit, the error says that nobody knows whether it was committed")
    func losesTheCommit() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(
            """
            CREATE TABLE t (id int);
            CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION leave()
            """
        )
        let error = await #expect(throws: PostgresError.self) {
            try await connection.transaction { try $0.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.message.hasSuffix("; it is not known whether the transaction was committed") == true)
    }
}

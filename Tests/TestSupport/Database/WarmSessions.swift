import Postgres
import Synchronization

/// The sessions of a database that stay open from one test to the next.
final class WarmSessions: Sendable {
    /// A session that is lent.
    struct Session: Sendable {
        let connection: PostgresConnection
        let user: String
        /// Its process in the server.
        let processID: Int32
        /// The statements that give it the settings that it began with.
        let settings: String
        let notices: Notices
    }

    /// Passes notices to whoever has the session.
    final class Notices: Sendable {
        let handler = Mutex<(@Sendable (PostgresNotice) -> Void)?>(nil)
    }

    private let database: TestDatabase
    private let free = Mutex<[Session]>([])
    private let lent = Mutex<[Session]>([])

    init(_ database: TestDatabase) {
        self.database = database
    }

    /// The processes of all sessions.
    var processIDs: [Int32] { (free.withLock(\.self) + lent.withLock(\.self)).map(\.processID) }

    /// A session of a user that nobody else has.
    func lend(_ user: String, _ onNotice: (@Sendable (PostgresNotice) -> Void)?) async throws -> Session {
        var session: Session?
        while session == nil,
            let next = free.withLock({ free in free.lastIndex { $0.user == user }.map { free.remove(at: $0) } })
        {
            // A test may have ended it from outside.
            if (try? await next.connection.execute("SELECT")) != nil { session = next }
        }
        let lending: Session
        if let session { lending = session } else { lending = try await open(user) }
        lending.notices.handler.withLock { $0 = onNotice }
        lent.withLock { $0.append(lending) }
        return lending
    }

    private func open(_ user: String) async throws -> Session {
        let notices = Notices()
        let connection = try await PostgresConnection.connect(
            database.configuration(user: user), logger: TestDatabase.logger,
            onNotice: { notice in notices.handler.withLock(\.self)?(notice) }
        )
        let row = try await connection.query(
            """
            SELECT pg_backend_pid(), string_agg(format('SET %s = %L;', name, setting), '')
              FROM pg_settings WHERE source = 'session' AND name <> 'search_path'
            """
        )[0]
        return Session(
            connection: connection, user: user, processID: try row.decode(0),
            settings: try row.decode(1) + "SET search_path = public, pg_temp;", notices: notices
        )
    }

    /// Makes a session as it was when it was lent; one that was closed or lost is lent no more.
    func takeBack(_ session: Session) async {
        lent.withLock { $0.removeAll { $0.processID == session.processID } }
        session.notices.handler.withLock { $0 = nil }
        do {
            try await session.connection.execute("ROLLBACK")
            try await session.connection.execute(
                """
                RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *; DEALLOCATE ALL; DISCARD TEMP;
                SELECT pg_advisory_unlock_all(); \(session.settings)
                """
            )
            free.withLock { $0.append(session) }
        } catch {
            await session.connection.close()
        }
    }

    /// Ends all of them.
    func close() async {
        for session in free.withLock(\.self) + lent.withLock(\.self) { await session.connection.close() }
    }

    /// Takes back what tests left open.
    func takeBackAll() async {
        for session in lent.withLock(\.self) { await takeBack(session) }
    }
}

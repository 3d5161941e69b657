import Glibc
import PolicyStore
import Postgres
import UpdatePolicy

/// Prints changes in the order of their commits, each once, until nobody reads them.
///
/// The row of the revision is the truth, and read every second; a notification only makes it quick. Ids follow commits
/// without a gap, so the last one read is all that is kept over a connection that breaks.
struct HistoryFollower {
    let database: DatabaseOptions
    /// Finds the version of the policy after which printing begins.
    let start: @Sendable (PolicyReports) throws -> PolicyVersion
    /// Writes the changes after one and before another, the newest first.
    let entries: @Sendable (PolicyReports, _ after: Int64, _ before: Int64) throws -> [String]

    /// How many changes are read at a time.
    private static let batch: Int64 = 100
    /// How long a notification is waited for, and where none can come.
    private static let intervals = (notified: Duration.seconds(1), polled: Duration.milliseconds(500))
    /// How long after a connection broke the next is attempted.
    private static let pause = Duration.milliseconds(500)

    /// How following over one connection ended.
    private enum Ending {
        case unread
        case failed(any Error)
        case lost(any Error)
    }

    /// Follows until standard output is closed. SIGINT and SIGTERM end the process with 0.
    func run() async throws {
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(EXIT_SUCCESS) } }
        var position: PolicyVersion?
        var isLost = false
        while true {
            let ending: Ending
            do {
                ending = try await database.withConnection(as: .admin) { connection, logger, name in
                    let migrator = SchemaMigrator(logger: logger)
                    do {
                        try await migrator.status(connection).requireReadable()
                        if isLost { printError("Connected to \(name.visible()) again.\n") }
                        isLost = false
                        try await follow(connection, from: &position)
                        return .unread
                    } catch {
                        return await connection.isHealthy ? .failed(error) : .lost(error)
                    }
                }
            } catch {
                // The database was there before, so it will be again.
                guard position != nil else { throw error }
                ending = .lost(error)
            }
            switch ending {
            case .unread: return
            case .failed(let error): return try await CommandError.explaining { throw error }
            case .lost(let error):
                if !isLost { printError("The connection to the database broke (\(error)); trying again.\n") }
                isLost = true
                guard StandardStreams.flush() else { return }
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Prints what is new, and waits for more, until standard output is closed.
    private func follow(_ connection: PostgresConnection, from position: inout PolicyVersion?) async throws {
        var interval = Self.intervals.polled
        if try await !connection.isPooled(), (try? await connection.listen(PolicyReader.channel)) != nil {
            interval = Self.intervals.notified
        }
        while true {
            let last = position
            let (reached, texts, isReplaced) = try await connection.transaction(.repeatableReadReadOnly) { session in
                try next(after: last, PolicyReports(session))
            }
            if isReplaced {
                CommandError(
                    "the history of the database is another one than before, as after a restore; it is followed from "
                        + "change \(reached.revision) on"
                ).printAsWarning()
            }
            for text in texts { print(text) }
            guard StandardStreams.flush() else { return }
            position = reached
            if reached == last { _ = try await connection.notifications(waitingUpTo: interval) }
        }
    }

    /// Reads the next changes, and up to which that is.
    private func next(
        after last: PolicyVersion?,
        _ reports: PolicyReports
    ) throws -> (reached: PolicyVersion, texts: [String], isReplaced: Bool) {
        guard let last else { return (try start(reports), [], false) }
        let history = try reports.history
        let newest = try PolicyReader.version(reports.session).revision
        guard try last.revision <= newest && history.version(of: last.revision) == last else {
            return (try history.version(of: newest), [], true)
        }
        let end = min(newest, last.revision + Self.batch)
        guard end > last.revision else { return (last, [], false) }
        return (try history.version(of: end), try entries(reports, last.revision, end + 1).reversed(), false)
    }
}

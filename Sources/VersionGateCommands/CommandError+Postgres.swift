import PolicyStore
import Postgres
import PrivatePostgres
import UpdatePolicy

extension CommandError {
    /// Runs `body` with the connection, if there is one, and says errors of the database in words for people: the one place
    /// where that is done.
    ///
    /// - Parameters:
    ///   - waiting: What to say where a statement waited for other sessions in vain.
    ///   - writing: What to say where the database does not take a transaction that writes.
    static func explaining<Result>(
        waiting: () async throws -> CommandError? = { nil },
        writing: () async throws -> CommandError? = { nil },
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as PostgresError {
            switch error.sqlState {
            case .lockNotAvailable?, .deadlockDetected?: throw try await waiting() ?? CommandError(error)
            case .readOnlyTransaction?, .featureNotSupported?: throw try await writing() ?? CommandError(error)
            default: throw CommandError(error)
            }
        } catch let refused as RefusedEdit {
            throw CommandError(refused)
        }
    }

    private init(_ refused: RefusedEdit) {
        switch refused {
        case .exists(.apps, let bundle): self = .appExists(bundle)
        case .exists(_, let key): self = .ruleExists(key)
        case .unreadableDuration(let text):
            self.init(
                "\"\(text)\" is not a length of time\nHint: Write weeks, days, hours, minutes or seconds: '2 days', 36h"
            )
        }
    }

    /// Other sessions hold what this one needs, and have not committed.
    ///
    /// - Parameter migrates: Whether a migration waited, which needs the tables; else an edit, which needs rows.
    static func waits(for edits: [OpenEdit], migrates: Bool = false, database: String) -> CommandError {
        let who = edits.isEmpty ? "" : ": \(edits.map(\.words).joined(separator: ", "))"
        return CommandError(
            migrates
                ? "a migration waited for others who use the tables that it changes; it changed nothing\(who)\n"
                    + "Hint: Migrate again when they are done\(ending(edits))"
                : "somebody else is editing the same rows and has not committed\(who); nothing was changed on \(database); "
                    + "try again when they are done, or end their edits as an admin: SELECT * FROM end_open_edits()"
        )
    }

    /// The database is a standby, which takes no edit, and none that is only tried.
    static func standby(_ database: String) -> CommandError {
        CommandError(
            "\(database) is a standby, which only reads; nothing was changed\n"
                + "Hint: Name the primary, or every host and target_session_attrs=read-write: "
                + "postgresql://USER@HOST,HOST/DATABASE?target_session_attrs=read-write"
        )
    }

    /// How to end the first of some sessions, and who may.
    private static func ending(_ edits: [OpenEdit]) -> String {
        guard let first = edits.first else { return "" }
        return first.mayBeEnded
            ? ", or end it: \(first.ending)"
            : ", or let \(first.role) or a superuser end it: \(first.ending)"
    }

    /// What was given twice, by the constraint that says so.
    private static var repeated: [String: String] {
        [
            "rule_texts_language_key":
                "the rule has a text in this language already, spelled in another way; `"
                + "\(PrintedCommand("rule show KEY"))` lists its texts",
            "release_notes_language_key":
                "the release has notes in this language already, spelled in another way; `\(PrintedCommand("release list"))` shows "
                + "the languages",
            "store_links_pkey": "the app has a link for this platform already; `"
                + "\(PrintedCommand("app edit BUNDLE --store-link PLATFORM=URL"))` replaces it",
            "rollout_steps_pkey": "two steps are at the same time; leave one of them out",
        ]
    }

    /// A refusal of the database with its detail and hint, or how the database failed.
    ///
    /// - Parameter place: Where the refused value was written.
    init(_ error: PostgresError, in place: CommandHint.Place = .options) {
        switch error.code {
        case .server where error.sqlState == .insufficientPrivilege && (error.hint ?? "").isEmpty:
            self.init(
                "\(error.message); log in as a viewer to read, as a planner to plan, as an admin to edit (`"
                    + "\(PrintedCommand("user add NAME --role ROLE"))` makes them), or as the schema's owner to migrate"
            )
        case .server where Self.repeated[error.constraint ?? ""] != nil:
            self.init(Self.repeated[error.constraint ?? ""] ?? "")
        case .server:
            var lines = [error.message]
            if let detail = error.detail, !detail.isEmpty { lines.append(detail) }
            if let hint = CommandHint(place: place).cure(PolicyFault(error), hint: error.hint), !hint.isEmpty {
                lines.append("Hint: \(hint)")
            }
            self.init(lines.joined(separator: "\n"))
        case .connectionFailed:
            self.init(
                "the database cannot be reached: \(error.message); to stop lockouts without it: `versiongate brake on`, on the "
                    + "machine of each server; otherwise check --database-url, DATABASE_URL or PGSERVICE, and that PostgreSQL runs"
                    + (error.hint.map { "\nHint: \($0)" } ?? "")
            )
        default:
            self.init("the database failed: \(error)")
        }
    }
}

import ArgumentParser
import Logging
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = command(
        "migrate", "Create the schema in the database, or bring it up to date.",
        "versiongate migrate --status",
        "versiongate migrate --print | psql --no-psqlrc postgresql://owner@db.example.com/versiongate",
        "versiongate migrate --database-url postgresql://owner@db.example.com/versiongate",
        discussion: """
            Each migration is applied in its own transaction; running the command twice, or on two machines at \
            once, applies each once. The database role needs to own the schema and, the first time, the right to \
            create roles.

            A database in which somebody else could act as the owner of the schema is refused, with the statements \
            that fix it; --status reports this and lesser faults of the privileges.

            --print prints the schema of this binary: all its migrations in order, as one script for psql, which keeps \
            the same record. Where something is defined twice, the last definition is in force. To see the schema of a \
            database, use pg_dump --schema-only.
            """
    )

    @Flag(help: "Show what is applied and what is pending, and change nothing.") var status = false
    @Flag(name: .customLong("print"), help: "Print the schema as SQL, without a database.") var prints = false
    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        guard !status || !prints else { throw ValidationError("Give one of --status and --print.") }
    }

    func run() async throws {
        guard !prints else {
            print(SchemaMigrator(logger: Logger(label: "versiongate")).script, terminator: "")
            return
        }
        try await database.withConnection(as: .owner, migrating: false) { connection, logger, _ in
            let migrator = SchemaMigrator(logger: logger)
            if status {
                show(try await migrator.status(connection))
                for fault in try await migrator.faults(connection) {
                    printError("\(fault.isDangerous ? "Danger" : "Warning"): \(fault.fault)\nHint: \(fault.remedy)\n")
                }
                return
            }
            let applied = try await Progress.showing("Applying migrations") { try await migrator.migrate(connection) }
            switch output.format {
            case .json: print(applied.jsonValue.lines)
            case .table where applied.isEmpty: print("The schema is up to date.")
            case .table: print(applied.map { "Applied \($0)" }.joined(separator: "\n"))
            }
        }
    }

    private func show(_ status: SchemaStatus) {
        let states =
            status.applied.map { ($0.name, "applied", Tone.good) }
            + status.pending.map { ($0.name, "pending", .part) }
            + status.unknown.map { ($0, "applied, unknown to this binary", .plain) }
        let table = Table(
            ifEmpty: "No migrations.", states,
            columns: [
                Column("Migration", json: "name", isName: true) { .text($0.0) },
                Column("State", json: "state") { .tag($0.1, $0.2) },
            ]
        )
        output.print(Report(at: .now(), table))
    }
}

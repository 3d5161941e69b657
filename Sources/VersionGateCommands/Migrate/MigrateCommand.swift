// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore

/// `versiongate migrate`
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create the schema in the database, or bring it up to date.",
        discussion: """
            Each migration is applied in a transaction of its own; running the command twice, or on two machines at
            once, applies each once. The database role needs to own the schema, and the first time to create roles.

            Examples:
              versiongate migrate --status
              DATABASE_URL=postgresql://owner@db.example.com/versiongate versiongate migrate
            """
    )

    @Flag(help: "Show what is applied and what is pending, and change nothing.")
    var status = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.withConnection(as: .owner, migrating: false) { connection, logger in
            let migrator = SchemaMigrator(logger: logger)
            if status {
                print(show(try await migrator.status(connection)))
                return
            }
            let applied = try await Progress.showing("Applying migrations") { try await migrator.migrate(connection) }
            switch output.format {
            case .json:
                print("[\(applied.map(JSONText.string).joined(separator: ","))]")
            case .table:
                print(
                    applied.isEmpty
                        ? "The schema is up to date." : applied.map { "Applied \($0)" }.joined(separator: "\n")
                )
            }
        }
    }

    private func show(_ status: SchemaStatus) -> String {
        let rows =
            status.applied.map { ($0.name, "applied") } + status.pending.map { ($0.name, "pending") }
            + status.unknown.map { ($0, "applied, unknown to this binary") }
        switch output.format {
        case .json:
            let objects = rows.map { "{\"name\":\(JSONText.string($0)),\"state\":\(JSONText.string($1))}" }
            return "[\n" + objects.joined(separator: ",\n") + "\n]"
        case .table:
            var table = TextTable("MIGRATION", "STATE")
            for (name, state) in rows { table.add(name, state) }
            return table.text
        }
    }
}

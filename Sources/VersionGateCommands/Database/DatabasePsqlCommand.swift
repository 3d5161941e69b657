// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// `versiongate database psql`
struct DatabasePsqlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "psql",
        abstract: "Open psql on the database, as versiongate_admin.",
        discussion: """
            Arguments after -- go to psql.

            Example:
              versiongate database psql -- -c 'SELECT key, title FROM rules'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(parsing: .postTerminator, help: "Arguments for psql.")
    var arguments: [String] = []

    func run() async throws {
        let status = try await database.withDatabase { try await Psql.run($0.configuration(as: .admin), arguments) }
        throw ExitCode(status)
    }
}

import ArgumentParser

/// `versiongate database psql`
struct DatabasePsqlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "psql",
        abstract: "Open psql on the database; on the private one as versiongate_admin.",
        discussion: """
            Arguments that this command does not know go to psql, and so do all those after --.

            Examples:
              versiongate database psql
              versiongate database psql \\
                -c 'SELECT key, title FROM rules'
              versiongate database psql -- --help
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(parsing: .allUnrecognized, help: "Arguments for psql.")
    var arguments: [String] = []

    func run() async throws {
        var arguments = self.arguments
        if let terminator = arguments.firstIndex(of: "--") { arguments.remove(at: terminator) }
        let psqlArguments = try (database.contextName().map(Psql.prompt) ?? []) + arguments
        try await database.withDatabase { try Psql.become(on: $0, psqlArguments) }
    }
}

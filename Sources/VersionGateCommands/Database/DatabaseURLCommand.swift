import ArgumentParser

/// `versiongate database url`
struct DatabaseURLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url",
        abstract: "Print an address that psql, run by the same user, accepts.",
        discussion: """
            It logs in as versiongate_admin, which edits the policy and nothing else. The private PostgreSQL runs \
            only while a versiongate server or command does; `versiongate database psql` keeps it running for as \
            long as you need it.

            Example:
              psql "$(versiongate database url)"
            """
    )

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.withDatabase { print($0.psqlAddress) }
    }
}

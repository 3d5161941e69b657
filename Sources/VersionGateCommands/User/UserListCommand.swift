import ArgumentParser
import PolicyStore
import Reports
import UpdatePolicy

/// `versiongate user list`
struct UserListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users with their roles.",
        discussion: """
            Superusers and the owner of the database may do everything, and are not listed.

            Example:
              versiongate user list
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let users = try await database.withUsers { users, _, _ in try await users.list() }
        output.print(
            Report(
                at: .now(),
                Table(
                    ifEmpty: "No users. Add one: \(command: "user add NAME --role viewer")", users,
                    columns: [
                        Column("Name", json: "name", isName: true) { .text($0.name) },
                        Column("Role", json: "role") { .text($0.role.rawValue) },
                        Column("Last edit", json: "last_edit") {
                            .sentence($0.lastEdit.map { "\(time: $0)" }, json: $0.lastEdit)
                        },
                    ]
                )
            )
        )
    }
}

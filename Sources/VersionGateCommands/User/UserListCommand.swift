import ArgumentParser
import PolicyStore
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
        output.print(users, ifEmpty: "No users. Add one: \(PrintedCommand("user add NAME --role viewer"))")
    }
}

extension PolicyUser: ListedObject {
    static let header = ["NAME", "ROLE", "LAST EDIT"]

    var cells: [String] { [name, role.rawValue, lastEdit.map { TimeText.local($0) } ?? "-"] }

    var json: JSONValue { ["name": name, "role": role.rawValue, "last_edit": lastEdit?.description] }
}

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate user remove`
struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a user; the history keeps the name.",
        discussion: """
            Sessions that the user has open can do nothing more. On a terminal it asks; in scripts it needs --yes.

            Example:
              versiongate user remove anna
            """
    )

    @Argument(help: ArgumentHelp("The name of the user.", valueName: "name"), completion: .users)
    var name: String

    @Flag(help: "Remove the user without a question.")
    var yes = false

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let place = try await database.withUsers { users, _, place in
            guard let user = try await users.list().first(where: { $0.name == name }) else {
                throw PolicyUserError.isUnknown(name)
            }
            try ApprovalRequirement(
                reasons: ["this removes the user \(name.visible()) (\(user.role.rawValue))"], database: place, yes: yes,
                canAsk: Terminal.canAsk
            ).require()
            try await users.remove(name)
            return place
        }
        print("Removed user \(name.visible()) from \(place.visible()).")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
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
        let users = try await database.withUsers { users, _ in try await users.list() }
        switch output.format {
        case .json:
            let list = users.map { user -> JSONValue in
                ["name": user.name, "role": user.role.rawValue, "last_edit": user.lastEdit?.description]
            }
            print(JSONValue.array(list).lines)
        case .table:
            guard !users.isEmpty else {
                print("No users. Add one: \(PrintedCommand("user add NAME --role viewer"))")
                return
            }
            var table = TextTable("NAME", "ROLE", "LAST EDIT")
            for user in users { table.add(user.name, user.role.rawValue, user.lastEdit?.description ?? "-") }
            print(table.text)
        }
    }
}

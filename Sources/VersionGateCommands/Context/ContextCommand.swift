// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// `versiongate context`
struct ContextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context",
        abstract: "List the databases that have a name, for --context.",
        discussion: """
            They are in $XDG_CONFIG_HOME/versiongate/config.yaml, else in ~/.config/versiongate/config.yaml:

              contexts:
                prod:
                  database-url: postgresql://anna@db1/versiongate
                staging:
                  database-url: postgresql://anna@db2/versiongate

            Passwords are not in this file, but in ~/.pgpass, or in the file that passfile= in an address names.

            Example:
              versiongate rule list --context prod
            """,
        subcommands: [ContextListCommand.self]
    )
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// `versiongate command-reference`: prints the help of all commands as one page.
struct CommandReferenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "command-reference",
        abstract: "Print the help of all commands as one page of Markdown.",
        discussion: """
            Example:
              versiongate command-reference > commands.md
            """,
        shouldDisplay: false
    )

    private static let introduction = """
        # Command reference

        The help of every command, as `versiongate COMMAND --help` shows it.

        Exit codes: 0 done, 1 refused or failed, 64 invalid command line, and 2 when `plan` finds differences. `versiongate database psql` ends with psql's.
        """

    func run() {
        print(([Self.introduction] + Self.sections(VersionGate.self, path: [])).joined(separator: "\n\n"))
    }

    /// The command and all below it, each as a section.
    private static func sections(_ command: any ParsableCommand.Type, path: [String]) -> [String] {
        guard command.configuration.shouldDisplay else { return [] }
        let path = path + [command._commandName]
        let help = VersionGate.helpMessage(for: command, columns: 100)
        let section = "## \(path.joined(separator: " "))\n\n```text\n\(help)\n```"
        return [section] + command.configuration.subcommands.flatMap { sections($0, path: path) }
    }
}

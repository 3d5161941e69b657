// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore

/// `versiongate undo`
struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Undo one change, as a new change.",
        discussion: """
            Only what the change did is undone, column by column. It is refused where a later change has set the \
            same columns. An undo can be undone.

            Example:
              versiongate undo 41
            """
    )

    @Argument(help: "The id of the change, as history shows it.")
    var change: Int64

    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit { editor in
            try PolicyHistory(editor.session).undo(change)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate release withdraw`
struct ReleaseWithdrawCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Say that users can no longer get a release.",
        discussion: """
            It shows which checks that affects, and asks on a terminal; in scripts it needs --yes. To undo it, use \
            release edit with --clear withdrawn-at.

            Examples:
              versiongate release withdraw com.example.doto 1.2
              versiongate release withdraw com.example.doto 1.2 \\
                --platform ios
            """
    )

    @OptionGroup var selector: ReleaseSelector

    @Option(help: ArgumentHelp("From when on; now unless given.", valueName: "time"))
    var at: TimeArgument?

    @OptionGroup var options: EditOptions

    func run() async throws {
        let now = Timestamp.now()
        let time = (at?.timestamp(now: now) ?? now).description
        try await options.edit(asksAboutRemovals: true) { editor in
            try selector.forEach(editor) { row in
                try editor.withdraw(row, at: time)
            }
        }
    }
}

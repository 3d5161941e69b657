// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// The options that every command that edits takes.
struct EditOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions

    @Flag(help: "Approve removals and lockouts without a question.")
    var yes = false

    @Flag(help: "Show what would change and whom it reaches, and change nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("Why this is done; kept in the history.", valueName: "text"))
    var why: String?
}

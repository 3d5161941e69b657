// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// The options that every command that edits takes.
struct EditOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions

    @Flag(help: "Do not ask for confirmation, even before something is removed or many are locked out.")
    var yes = false

    @Option(help: ArgumentHelp("Why this is done; kept in the history.", valueName: "text"))
    var why: String?
}

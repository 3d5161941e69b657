// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// `versiongate completions`
struct CompletionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script for a shell.",
        discussion: """
            The keys of rules and the bundles of apps are completed as well, if the database can be read.

            Examples:
              source <(versiongate completions bash)
              versiongate completions zsh > "${fpath[1]}/_versiongate"
              versiongate completions fish \\
                > ~/.config/fish/completions/versiongate.fish
            """
    )

    /// A shell that completions can be made for.
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() {
        let shell: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        print(VersionGate.completionScript(for: shell))
    }
}

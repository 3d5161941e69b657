// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import PolicyDocument
import PolicyStore

/// `versiongate export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the policy as a file: apps, store links, releases, rules, texts and steps.",
        discussion: """
            The file is YAML, made to be read, edited and kept under version control. The same policy always gives \
            the same file, except for the revision in its first line. Default values are left out.

            Examples:
              versiongate export --output policy.yaml
              versiongate export | diff policy.yaml -
            """
    )

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write, in place of standard output.", valueName: "file")
    )
    var output: String?

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let present = try await database.editedPolicy()
        let text = PolicyDocument.text(of: present.policy, revision: present.version.revision)
        guard let output, output != "-" else {
            print(text, terminator: "")
            return
        }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw CommandError(
                "\(output) cannot be written: \(CommandError.reason(ofFileError: error)); check the folder and its rights"
            )
        }
        print("Wrote the policy at revision \(present.version.revision) to \(output).")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import UpdatePolicy

/// `versiongate context list`
struct ContextListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the contexts with their databases.",
        discussion: """
            Example:
              versiongate context list
            """
    )

    @OptionGroup var output: OutputOptions

    func run() throws {
        let contexts = try DatabaseContexts.read(ProcessInfo.processInfo.environment)
        switch output.format {
        case .json:
            let list = contexts.all.map { context -> JSONValue in
                ["name": context.name, "database_url": context.address]
            }
            print(JSONValue.array(list).lines)
        case .table:
            guard !contexts.all.isEmpty else {
                print(
                    "No contexts: \(contexts.path.visible()) has none. `versiongate context --help` shows how to write it."
                )
                return
            }
            var table = TextTable("NAME", "DATABASE")
            for context in contexts.all { table.add(context.name, context.address) }
            print(table.text)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Postgres

/// The words of a command line that say where the policy is, apart from the others.
struct DatabaseWords {
    /// The words that name the same database to another command, without any password.
    let toType: [String]
    /// All other words, in their order.
    let others: [String]

    /// Finds them.
    ///
    /// - Parameters:
    ///   - words: The arguments of the process.
    ///   - environment: Its environment, which may choose a context.
    init(_ words: [String], environment: [String: String] = [:]) {
        var found: [String] = []
        var others: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                others += [word] + rest
                break
            }
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if word == "--private" {
                found.append(word)
            } else if let toType = Self.options[halves[0]], let value = halves.dropFirst().first ?? rest.popFirst() {
                found += [halves[0], toType(value)]
            } else {
                others.append(word)
            }
        }
        let isNamed = found.contains { ["--context", "--database-url", "--private"].contains($0) }
        if !isNamed, let context = environment["VERSIONGATE_CONTEXT"], !context.isEmpty {
            found += ["--context", context]
        }
        toType = found
        self.others = others
    }

    /// The options with a value, and how each value is typed again.
    private static let options: [String: @Sendable (String) -> String] = [
        "--context": { $0 },
        "--database-url": { PostgresConfiguration(connectionString: $0).addressWithoutPassword ?? "URL" },
        "--state-dir": { URL(fileURLWithPath: $0).standardizedFileURL.path },
    ]
}

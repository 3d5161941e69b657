// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import Logging
import Postgres
import PrivatePostgres

extension CompletionKind {
    /// The keys of the rules there are.
    static var ruleKeys: CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names("SELECT key FROM public.rules ORDER BY key", prefix: prefix)
        }
    }

    /// The bundles of the apps there are.
    static var bundles: CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names(
                "SELECT bundle FROM public.apps ORDER BY bundle",
                prefix: prefix
            )
        }
    }
}

/// Names in the policy, for somebody who waits for a completion: whatever goes wrong, there are none.
struct PolicyNames {
    private let options: DatabaseOptions

    /// Takes the options that say where the database is from a command line that is being written.
    init(commandLine: [String]) {
        var options = DatabaseOptions()
        options.databaseURL = Self.value(of: "--database-url", in: commandLine)
        options.stateDir = Self.value(of: "--state-dir", in: commandLine)
        options.usesPrivate = commandLine.contains("--private")
        self.options = options
    }

    /// The names that a query gives and that begin with what was typed.
    ///
    /// A private PostgreSQL that does not run is not started for it.
    func names(_ query: String, prefix: String) async -> [String] {
        do {
            let source = try options.source()
            if case .privatePostgres(let postgres) = source, !postgres.seemsToRun { return [] }
            let logger = Logger(label: "versiongate.completions", factory: { _ in SwiftLogNoOpLogHandler() })
            return try await source.withDatabase(logger: logger, migrating: false) { database in
                var configuration = database.configuration(as: .admin)
                configuration.connectTimeout = .seconds(2)
                let connection = try await PostgresConnection.connect(configuration, logger: logger)
                try await connection.execute("SET statement_timeout = '2s'")
                let names = try await connection.query(query)
                    .map { try $0.decode(0, as: String.self) }
                await connection.close()
                return names.filter { $0.hasPrefix(prefix) && !$0.contains(where: \.isWhitespace) }
            }
        } catch {
            return []
        }
    }

    private static func value(of option: String, in words: [String]) -> String? {
        if let index = words.firstIndex(of: option), words.indices.contains(index + 1) { return words[index + 1] }
        return words.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
    }
}

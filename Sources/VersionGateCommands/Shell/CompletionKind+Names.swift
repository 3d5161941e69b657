// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import Logging
import PolicyStore
import Postgres
import PrivatePostgres
import UpdatePolicy

extension CompletionKind {
    /// The keys of the rules in the policy.
    static var ruleKeys: CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names(prefix: prefix) { try PolicyReader.ruleKeys($0) }
        }
    }

    /// The bundles of the apps in the policy.
    static var bundles: CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names(prefix: prefix) { try PolicyReader.bundles($0) }
        }
    }

    /// The keys of the rules and the bundles of the apps in the policy.
    static var keysAndBundles: CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names(prefix: prefix) {
                try PolicyReader.ruleKeys($0) + PolicyReader.bundles($0)
            }
        }
    }

    /// The numbers of the newest changes.
    static var changes: CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names(prefix: prefix) { session in
                try session.query("SELECT id::text FROM public.changes ORDER BY id DESC LIMIT 50")
                    .map { try $0.decode(0, as: String.self) }
            }
        }
    }

    /// The platforms that releases are on, and the usual ones.
    static var platforms: CompletionKind {
        .custom { words, _, prefix in
            let usual = Platform.wellKnown.filter { $0.hasPrefix(prefix) }
            return Set(
                usual
                    + (await PolicyNames(commandLine: words).names(prefix: prefix) { session in
                        try session.query("SELECT DISTINCT platform FROM public.releases")
                            .map { try $0.decode(0, as: String.self) }
                    })
            ).sorted()
        }
    }

    /// The versions of the releases of an app that the command line names.
    static var versions: CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names(prefix: prefix) { session in
                try session.query(
                    "SELECT DISTINCT version FROM public.releases WHERE bundle = ANY (string_to_array($1, E'\\n')) ORDER BY 1",
                    [words.joined(separator: "\n")]
                ).map { try $0.decode(0, as: String.self) }
            }
        }
    }

    /// The members of a check; for the bundle with the apps.
    static var members: CompletionKind {
        .custom { words, _, prefix in
            let names = ClientField.allCases.map { "\($0.name)=" }.filter { $0.hasPrefix(prefix) }
            guard prefix.hasPrefix("bundle=") else { return names }
            return await PolicyNames(commandLine: words).names(prefix: prefix) { session in
                try PolicyReader.bundles(session).map { "bundle=\($0)" }
            }
        }
    }

    /// The names of the contexts in the configuration file.
    static var contexts: CompletionKind {
        .custom { _, _, prefix in
            let contexts = try? DatabaseContexts.read(ProcessInfo.processInfo.environment)
            return (contexts?.all ?? []).map(\.name).filter { $0.hasPrefix(prefix) }
        }
    }
}

/// The names in the policy that complete a word on the command line; none where the database cannot be read.
struct PolicyNames {
    private let options: DatabaseOptions

    /// Finds the database options in an unfinished command line.
    init(commandLine: [String]) {
        var options = DatabaseOptions()
        options.databaseURL = Self.value(of: "--database-url", in: commandLine)
        options.context = Self.value(of: "--context", in: commandLine)
        options.stateDir = Self.value(of: "--state-dir", in: commandLine)
        options.usesPrivate = commandLine.contains("--private")
        self.options = options
    }

    /// The names that begin with the prefix.
    ///
    /// A private PostgreSQL that does not run is not started.
    ///
    /// - Parameter read: Reads all names from the database.
    func names(
        prefix: String,
        _ read: @Sendable (PostgresSession) throws -> [String]
    ) async -> [String] {
        do {
            let source = try options.source()
            if case .privatePostgres(let postgres) = source, !postgres.seemsToRun { return [] }
            let logger = Logger(label: "versiongate.completions", factory: { _ in SwiftLogNoOpLogHandler() })
            return try await source.withDatabase(logger: logger, migrating: false) { database in
                var configuration = database.configuration(as: .admin)
                configuration.connectTimeout = .seconds(2)
                configuration.statementTimeout = .seconds(2)
                let connection = try await PostgresConnection.connect(configuration, logger: logger)
                let names = try await connection.withSession(read)
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

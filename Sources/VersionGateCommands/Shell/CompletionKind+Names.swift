import ArgumentParser
import Foundation
import Logging
import PolicyStore
import Postgres
import PrivatePostgres
import UpdateFeeds
import UpdatePolicy

extension CompletionKind {
    /// The keys of the rules in the policy.
    static var ruleKeys: CompletionKind { names { session, _ in try PolicyReader.ruleKeys(session) } }

    /// The bundles of the apps in the policy.
    static var bundles: CompletionKind { names { session, _ in try PolicyReader.bundles(session) } }

    /// What a history can be of: the keys of the rules, the bundles of the apps and the numbers of the newest changes.
    static var historySubjects: CompletionKind {
        names { session, _ in
            try PolicyReader.ruleKeys(session) + PolicyReader.bundles(session) + KnownNames.changes(session)
        }
    }

    /// The numbers of the newest changes, which are those of revisions too.
    static var changes: CompletionKind { names { session, _ in try KnownNames.changes(session) } }

    /// Who has edited.
    static var authors: CompletionKind { names { session, _ in try KnownNames.authors(session) } }

    /// The users of the database.
    static var users: CompletionKind { names { session, _ in try KnownNames.users(session) } }

    /// The platforms that releases are on, and the usual ones.
    static var platforms: CompletionKind {
        .custom { words, _, prefix in await PolicyNames(commandLine: words).platforms(prefix: prefix) }
    }

    /// The versions of the releases of an app that the command line names.
    static var versions: CompletionKind {
        names { session, words in try KnownNames.versions(ofAppsAmong: words, session) }
    }

    /// The templates of an app that the command line names.
    static var templates: CompletionKind {
        names { session, words in try KnownNames.templates(ofAppsAmong: words, session) }
    }

    /// The documents of an app that the command line names: the formats, and its templates.
    static var feeds: CompletionKind {
        .custom { words, _, prefix in
            FeedFormat.allCases.map(\.rawValue).filter { $0.hasPrefix(prefix) }
                + (await PolicyNames(commandLine: words).names(prefix: prefix) {
                    try KnownNames.templates(ofAppsAmong: words, $0)
                })
        }
    }

    /// The members of a check, and the apps, platforms and versions that they can be.
    static var members: CompletionKind {
        .custom { words, _, prefix in
            guard let equals = prefix.firstIndex(of: "=") else {
                return ClientField.allCases.map { "\($0.name)=" }.filter { $0.hasPrefix(prefix) }
            }
            let (name, start) = (prefix[..<equals], String(prefix[equals...].dropFirst()))
            let names = PolicyNames(commandLine: words)
            let values =
                switch name {
                case ClientField.bundle.name[...]: await names.names(prefix: start) { try PolicyReader.bundles($0) }
                case ClientField.platform.name[...]: await names.platforms(prefix: start)
                case ClientField.version.name[...]:
                    await names.names(prefix: start) { session in
                        let bundles = words.map { $0.replacing(/^bundle=/, with: "") }
                        return try KnownNames.versions(ofAppsAmong: bundles, session)
                    }
                default: [String]()
                }
            return values.map { "\(name)=\($0)" }
        }
    }

    /// The names of the contexts in the configuration file.
    static var contexts: CompletionKind {
        .custom { _, _, prefix in
            let contexts = try? DatabaseContexts.read(CommandContext.current.environment)
            return (contexts?.all ?? []).map(\.name).filter { $0.hasPrefix(prefix) }
        }
    }

    /// Names from the database.
    ///
    /// - Parameter read: Reads all of them; the words are those of the command line.
    private static func names(
        _ read: @escaping @Sendable (PostgresSession, _ words: [String]) throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            await PolicyNames(commandLine: words).names(prefix: prefix) { try read($0, words) }
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

    /// The platforms that releases are on, and the usual ones.
    func platforms(prefix: String) async -> [String] {
        let used = await names(prefix: prefix) { try KnownNames.platforms($0) }
        return Set(Platform.wellKnown.filter { $0.hasPrefix(prefix) } + used).sorted()
    }

    private static func value(of option: String, in words: [String]) -> String? {
        if let index = words.firstIndex(of: option), words.indices.contains(index + 1) { return words[index + 1] }
        return words.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
    }
}

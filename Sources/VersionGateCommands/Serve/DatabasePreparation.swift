import Logging
import PolicyStore
import Postgres
import PrivatePostgres
import UpdatePolicy

/// Prepares the database for a server: starts the private one, and migrates where the server may do that.
actor DatabasePreparation {
    private let source: DatabaseSource
    private let migrates: Bool
    private let logger: Logger
    private var running: RunningDatabase?
    private var migration: Task<Void, any Error>?

    init(source: DatabaseSource, migrates: Bool, logger: Logger) {
        (self.source, self.migrates, self.logger) = (source, migrates, logger)
    }

    /// Starts the private PostgreSQL, so that a failure is reported at the start, and again where it died.
    @discardableResult
    func start() async throws -> RunningDatabase {
        let database = if let running { running } else { try await source.start() }
        running = database
        if case .leased(let lease) = database { try await lease.ensureRunning() }
        return database
    }

    private func database() async throws -> RunningDatabase {
        let database = try await start()
        if migrates { try await migrate(database) }
        return database
    }

    func configuration(as role: DatabaseRole = .server) async throws -> PostgresConfiguration {
        var configuration = try await database().configuration(as: role)
        configuration.applicationName = "versiongate serve"
        // For a silent database, and to connect, which takes five round trips; checks do not wait meanwhile.
        configuration.responseTimeout = .seconds(10)
        configuration.connectTimeout = .seconds(10)
        return configuration
    }

    /// Migrates once, whether the schema can be brought up to date or not; again if the database did not answer.
    private func migrate(_ database: RunningDatabase) async throws {
        let migration =
            self.migration
            ?? Task { [logger] in
                do {
                    try await database.migrate(logger: logger)
                } catch let error as SchemaError {
                    logger.error("The schema cannot be brought up to date", metadata: ["error": "\(error)"])
                } catch let error as PostgresError where error.code == .server {
                    // The database answers, and refuses to migrate; what is in it may still be read.
                    let reason = [error.message, error.hint].compactMap(\.self).joined(separator: "; ")
                    logger.error("The schema cannot be brought up to date", metadata: ["error": "\(reason)"])
                }
            }
        self.migration = migration
        do {
            try await migration.value
        } catch {
            self.migration = nil
            throw error
        }
    }

    nonisolated func addExample() async throws -> Bool {
        try await database().withConnection(as: .admin, logger: logger, on: .file) { connection in
            try await ExamplePolicy.add(PolicyTransaction(connection, logger: logger))
        }
    }

    func finish() async throws {
        try await running?.end()
        running = nil
    }
}

/// The example that `serve --example` gives an empty policy: an app, and a rule that asks people to update.
enum ExamplePolicy {
    private static let bundle = "com.example.hello"

    static func add(_ editing: PolicyTransaction) async throws -> Bool {
        let (apps, rules) = try await editing.prepare(commits: true) { session in
            (try PolicyReader.bundles(session), try PolicyReader.ruleKeys(session))
        }
        guard apps.isEmpty, rules.isEmpty else { return apps.contains(bundle) }
        let osUser = EditOptions.osUser(CommandContext.current.environment)
        _ = try await editing.commit(by: EditAuthor(osUser: osUser, why: "serve --example")) { editor in
            try editor.insert([.init(\App.bundle, bundle), .init(\.name, "Hello")])
            let link = "https://apps.apple.com/app/id123456789"
            try editor.insert([.owner(bundle), .init(\StoreLink.platform, "ios"), .init(\.link, link)])
            try editor.insert([
                .init(\Rule.key, "hello-update"), .init(\.bundle, bundle), .init(\.platforms, ["ios"]),
                .init(\.versions, "<1.2"), .init(\.title, "Please update"),
                .init(\.text, "{app} 1.2 is in the App Store."), .init(\.link, "store"), .init(\.enabled, true),
            ])
        }
        return true
    }

    static func lines(publicURL: String, managementURL: String, isThere: Bool, password: String?) -> [String] {
        let question = #"{"bundle":"\#(bundle)","version":"1.1","platform":"ios"}"#
        let check = "  an app asks    curl \(reachable(publicURL))/v1/check --data '\(question)'"
        let login = password.map { " (any name, password \($0))" } ?? ""
        return (isThere ? [check] : []) + ["  people look    \(reachable(managementURL))\(login)"]
    }

    /// An address that can be asked on this machine, for one that means all addresses.
    private static func reachable(_ url: String) -> String {
        url.replacing("//0.0.0.0:", with: "//127.0.0.1:").replacing("//[::]:", with: "//[::1]:")
    }
}

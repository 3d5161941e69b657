import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate store sync`
struct StoreSyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Ask the App Store for the versions that it has, and record them as releases.",
        discussion: """
            One pass for a timer, which prints nothing where nothing is new. A version that is not recorded becomes a \
            release of platform ios, live from now on; with --country in the countries that have it, else everywhere. \
            A recorded one without a least system or a time gets them. Nothing is withdrawn, and nothing that a person \
            wrote is changed: also what a person removed stays away. The history names the tool "store".

            Standard error says which answers were ignored, and the status is then 1: those that could not be had or \
            read, that are about another app or older than what is recorded, that do not say which system is needed, \
            and versions that are far above the history of the app. The others are recorded.

            Examples:
              versiongate store sync
              versiongate store sync com.example.doto \\
                --country US --country JP --dry-run
            """
    )

    @Argument(
        help: "The bundles of the apps; without one, every app whose number in the store is known.",
        completion: .bundles
    )
    var bundles: [String] = []

    @Option(
        name: .customLong("country"),
        help: ArgumentHelp("A country whose store is asked (JP); can be repeated.", valueName: "country")
    )
    var countries: [String] = []

    @Option(help: ArgumentHelp("The address before /lookup.", valueName: "url"))
    var storeURL = "https://itunes.apple.com"

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        try RemoteCheck.requireAddress(storeURL, option: "--store-url")
        for country in countries where Region(code: country) == nil {
            throw ValidationError("--country is \"\(country)\"; write two upper-case letters of ISO 3166-1: JP")
        }
    }

    /// The database, for which the state folder is none where another is named: it keeps what the store answered.
    private func place() throws -> DatabaseOptions {
        var database = database
        if case .named = try database.source() { database.stateDir = nil }
        return database
    }

    func run() async throws {
        let database = try place()
        let apps = try await database.withConnection(as: .admin) { connection, logger, _ in
            try await PolicyEditing(connection, logger: logger).prepare(commits: !options.dryRun) { try chosenApps($0) }
        }
        let lookup = StoreLookup(base: storeURL, folder: try? self.database.stateDirectory())
        let places: [String?] = countries.isEmpty ? [nil] : Set(countries).sorted()
        let questions = apps.flatMap { app in
            places.map { StoreQuestion(bundle: app.bundle, storeID: app.numberInStore, country: $0) }
        }
        let answers = try await Progress.showing("Asking the store") { try await lookup.answers(to: questions) }
        var isComplete = true
        func say(_ error: CommandError, isFailure: Bool = true) {
            error.printAsWarning()
            if isFailure { isComplete = false }
        }
        for app in apps {
            var found: [StoreFinding] = []
            var lacking: [CommandError] = []
            for (question, answer) in answers where question.bundle == app.bundle {
                switch answer {
                case .release(let release): found.append(StoreFinding(country: question.country, release: release))
                case .absent: lacking.append(question.error("it does not have the app"))
                case .refused(let reason): say(question.error(reason))
                }
            }
            // An app need not be in every country, but in one.
            for error in lacking { say(error, isFailure: found.isEmpty) }
            guard !found.isEmpty else { continue }
            do {
                for refusal in try await record(found, of: app.bundle, on: database).refusals {
                    say(refusal.error, isFailure: refusal.isFailure)
                }
            } catch let error as CommandError {
                say(error)
            }
        }
        if !isComplete { throw ExitCode.failure }
    }

    /// The apps to ask for.
    private func chosenApps(_ session: PostgresSession) throws -> [App] {
        let all = try PolicyReader.policy(session).apps
        guard bundles.isEmpty else {
            return try Set(bundles).sorted().map { bundle in
                guard let app = all.first(where: { $0.isNamed(bundle) }) else {
                    throw try CommandError.noSuchApp(bundle, session)
                }
                return app
            }
        }
        let known = all.filter { $0.numberInStore != nil }
        guard !known.isEmpty else {
            throw CommandError(
                "of no app is the number in the App Store known; name the apps, or record it: "
                    + "\(PrintedCommand("app edit BUNDLE --store-id 1234567890"))"
            )
        }
        return known
    }

    /// Records what is new of an app, in one change.
    private func record(
        _ found: [StoreFinding],
        of bundle: String,
        on database: DatabaseOptions
    ) async throws -> StoreDecision {
        let decision = try await database.read { try StoreDecision(found, of: bundle, $0.session) }
        guard !decision.isEmpty else { return decision }
        try await options.edit(on: database, as: StoreDecision.tool, values: { $0.now }) { editor, now in
            try editor.lock(where: [.init(\App.bundle, bundle)])
            // Somebody may have edited meanwhile.
            try StoreDecision(found, of: bundle, editor.session).make(editor, now: now)
        }
        return decision
    }
}

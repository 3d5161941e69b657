import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate store`: what the App Store says of the apps.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "store", "Record the releases that the App Store has.",
        examples: ["versiongate store sync --country US --country JP"],
        subcommands: [StoreSyncCommand.self]
    )
}

/// `versiongate store sync`
struct StoreSyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "sync", "Ask the App Store for the versions that it has, and record them as releases.",
        discussion: """
            One pass for a timer, which prints nothing where nothing is new. A version that is not recorded becomes a \
            release of platform ios, live from now on; with --country in the countries that have it, else everywhere. \
            A recorded one without a least system or a time gets them. Nothing is withdrawn, and nothing that a person \
            wrote is changed: also what a person removed stays away. The history names the tool "store".

            Standard error says which answers were ignored, and the status is then 1: those that could not be had or \
            read, that are about another app or older than what is recorded, that do not say which system is needed, \
            and versions that are far above the history of the app. The others are recorded.
            """,
        examples: [
            "versiongate store sync",
            "versiongate store sync com.example.doto --country US --country JP --dry-run",
        ]
    )

    @Argument(help: "The bundles of the apps; without one, every app whose number in the store is known.")
    var bundles: [String] = []

    @Option(each: "country", "A country whose store is asked (JP)") var countries: [String]
    @Option(help: .init("The address before /lookup.", valueName: "url")) var storeURL = "https://itunes.apple.com"
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        guard HTTPExchange.Address(storeURL) != nil else {
            throw ValidationError(
                "--store-url is \"\(storeURL)\"; write the whole address, with http:// or https://: https://itunes.apple.com"
            )
        }
        for country in countries where Region(code: country) == nil {
            throw ValidationError("--country is \"\(country)\"; write two upper-case letters of ISO 3166-1: JP")
        }
    }

    func run() async throws {
        var database = database
        // Where another database is named, the state folder is not its own: it keeps what the store answered.
        if case .named = try database.source() { database.stateDir = nil }
        let apps = try await database.withConnection(as: .admin) { connection, logger, _ in
            try await PolicyEditing(connection, logger: logger).prepare(commits: !options.dryRun) { try chosenApps($0) }
        }
        let lookup = StoreLookup(base: storeURL, folder: try? self.database.stateDirectory())
        let places: [String?] = countries.isEmpty ? [nil] : Set(countries).sorted()
        let questions = apps.flatMap { app in
            places.map { StoreQuestion(bundle: app.bundle, storeID: app.numberInStore, country: $0) }
        }
        let answers = await Progress.showing("Asking the store") { await lookup.answers(to: questions) }
        var isComplete = true
        for app in apps {
            let answers = answers.filter { $0.question.bundle == app.bundle }
            var (found, refusals) = ([StoreDecision.Finding](), [StoreDecision.Refusal]())
            for (question, answer) in answers {
                switch answer {
                case .release(let release): found.append((question.country, release))
                case .refused(let reason): refusals.append((question.error(reason), isFailure: true))
                case .absent:
                    // An app need not be in every country, but in one.
                    let isElsewhere = answers.contains { if case .release = $0.answer { true } else { false } }
                    refusals.append((question.error("it does not have the app"), isFailure: !isElsewhere))
                }
            }
            do {
                if !found.isEmpty { refusals += try await record(found, of: app.bundle, on: database) }
            } catch let error as CommandError {
                refusals.append((error, isFailure: true))
            }
            for (error, isFailure) in refusals {
                error.printAsWarning()
                if isFailure { isComplete = false }
            }
        }
        if !isComplete { throw ExitCode.failure }
    }

    private func chosenApps(_ session: PostgresSession) throws -> [App] {
        let apps =
            try bundles.isEmpty
            ? PolicyReader.policy(session).apps.filter { $0.numberInStore != nil }
            : Set(bundles).sorted().map { try PolicyReports(session).appWithTemplates($0) }
        guard apps.isEmpty else { return apps }
        throw CommandError(
            "of no app is the number in the App Store known; name the apps, or record it: "
                + "\(PrintedCommand("app edit BUNDLE --store-id 1234567890"))"
        )
    }

    /// Records what is new of an app, in one change, and returns what is not recorded.
    private func record(_ found: [StoreDecision.Finding], of bundle: String, on database: DatabaseOptions) async throws
        -> [StoreDecision.Refusal]
    {
        let decision = try await database.read { try StoreDecision(found, of: bundle, $0.session) }
        guard !decision.edits.isEmpty else { return decision.refusals }
        try await options.edit(on: database, as: StoreDecision.tool, values: { $0.now }) { editor, now in
            try editor.lock(where: [.init(\App.bundle, bundle)])
            // Somebody may have edited meanwhile.
            for edit in try StoreDecision(found, of: bundle, editor.session).edits { try edit(editor, now) }
        }
        return decision.refusals
    }
}

import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

struct StoreCommand: AsyncParsableCommand {
    static let configuration = command(
        "store", "Record the releases that the App Store has.", "versiongate store sync --country US --country JP",
        subcommands: [StoreSyncCommand.self]
    )
}

struct StoreSyncCommand: AsyncParsableCommand {
    static let configuration = command(
        "sync", "Ask the App Store for the versions that it has, and record them as releases.",
        "versiongate store sync", "versiongate store sync com.example.doto --country US --country JP --dry-run",
        discussion: """
            One pass for a timer. It prints nothing if nothing is new. A version that is not recorded becomes a \
            release of platform ios, live from now on; with --country in the countries that have it, else everywhere. \
            A recorded one that lacks the lowest system or the time gets it. Nothing is withdrawn, and nothing that a \
            person wrote is changed: what a person removed stays removed. The history names the tool "store".

            Standard error says which answers were ignored, and the exit code is then 1: those that could not be \
            fetched or read, that are about another app or older than what is recorded, that do not say which system \
            is needed, and versions that are far above the history of the app. The others are recorded.
            """
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
            try await PolicyTransaction(connection, logger: logger).prepare(commits: !options.dryRun) {
                try chosenApps($0)
            }
        }
        let lookup = StoreLookup(base: storeURL, folder: try? self.database.stateDirectory())
        let places: [String?] = countries.isEmpty ? [nil] : Set(countries).sorted()
        let questions = apps.flatMap { app in
            places.map { StoreQuestion(bundle: app.bundle, storeID: app.numberInStore, country: $0) }
        }
        let answers = try await Progress.showing("Asking the store") { await lookup.answers(to: questions) }
        var isComplete = true
        for app in apps {
            let answers = answers.filter { $0.question.bundle == app.bundle }
            let found = answers.compactMap { question, answer -> StoreDecision.Finding? in
                if case .release(let release) = answer { (question.country, release) } else { nil }
            }
            var refusals = answers.compactMap { question, answer -> StoreDecision.Refusal? in
                switch answer {
                case .release: nil
                case .refused(let reason): (question.error(reason), isFailure: true)
                // An app need not be in every country, but in one.
                case .absent: (question.error("it does not have the app"), isFailure: found.isEmpty)
                }
            }
            do {
                if !found.isEmpty { refusals += try await record(found, of: app.bundle, on: database) }
            } catch let error as CommandError {
                refusals.append((error, isFailure: true))
            }
            refusals.forEach { $0.error.printAsWarning() }
            isComplete = isComplete && !refusals.contains(where: \.isFailure)
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
            "no app has a recorded App Store number; name the apps, or record one: "
                + "\(PrintedCommand("app edit BUNDLE --store-id 1234567890"))"
        )
    }

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

struct StoreDecision: Sendable {
    typealias Finding = (country: String?, release: StoreRelease)
    /// What is not recorded, and whether somebody has to look at it.
    typealias Refusal = (error: CommandError, isFailure: Bool)

    static let tool = "store"
    private static let platform = "ios"

    private(set) var edits: [@Sendable (_ editor: PolicyEditor, _ now: Timestamp) throws -> Void] = []
    private(set) var refusals: [Refusal] = []
    private let bundle: String

    init(_ found: [Finding], of bundle: String, _ session: PostgresSession) throws {
        self.bundle = bundle
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        let now = try CommandClock(session).now
        let rows = policy.releases.filter { $0.platform == Self.platform }
        let history = try PolicyHistory(session)
        // What the store itself had within a day does not count, so that no series of answers leads far away.
        let yesterday = now.advanced(byMicroseconds: -86_400_000_000)
        let settled = try rows.filter { row in
            guard let time = row.liveAt, time > yesterday else { return true }
            return try !history.origin(ofRelease: row.id, tool: Self.tool).isOfTool
        }
        let known = (settled.isEmpty ? rows.min { $0.id < $1.id }.map { [$0] } ?? [] : settled)
            .compactMap { AppVersion($0.version) }
        for release in found.map(\.release).reduce(into: [StoreRelease](), { if !$0.contains($1) { $0.append($1) } }) {
            guard let version = AppVersion(release.version) else { continue }
            let countries = found.filter { $0.release == release }.map(\.country).filter { country in
                let newer = rows.first { row in
                    row.isLive(at: now) && row.isIn(country) && AppVersion(row.version).map { $0 > version } == true
                }
                guard let newer else { return true }
                let place = country.map { " in \($0)" } ?? ""
                return refuse("\(version) of \(bundle)\(place)", "older than \(newer.version), which is recorded")
            }
            let same = rows.filter { AppVersion($0.version) == version }
            var areOwn = true
            for row in same {
                let origin = try history.origin(ofRelease: row.id, tool: Self.tool)
                areOwn = areOwn && origin.isOfTool && !origin.editedByOthers.contains("regions")
                if countries.contains(where: row.isIn) { complete(row, release, origin.editedByOthers) }
            }
            let missing = countries.filter { country in !same.contains { $0.isIn(country) } }
            guard !missing.isEmpty, areOwn, try !same.isEmpty || mayAdd(release, known, history) else { continue }
            edits.append { editor, now in
                try editor.insert([
                    .init(\Release.bundle, bundle), .init(\.version, release.version), .init(\.platform, Self.platform),
                    .init(\.minOS, release.minOS), .init(\.liveAt, now),
                    .init(\.regions, missing.contains(nil) ? nil : missing.compactMap(\.self).sorted()),
                ])
            }
        }
    }

    /// Whether a version is added that is not recorded: not where somebody removed it, or where it is far above the others.
    private mutating func mayAdd(_ release: StoreRelease, _ known: [AppVersion], _ history: PolicyHistory) throws
        -> Bool
    {
        let (version, name) = (release.version, "\(release.version) of \(bundle)")
        if let change = try history.removal(ofRelease: version, of: bundle, on: Self.platform, notBy: Self.tool) {
            return refuse(name, "was removed by change \(change)", isFailure: false)
        }
        guard release.leaps(above: known) else { return true }
        let reason = known.max().map { "far above \($0), the newest that is recorded" }
        let command = "release add \(bundle) \(version.shellWord) --platform \(Self.platform)"
        let cure = PrintedCommand("\(command) --min-os \(release.minOS.shellWord)")
        return refuse(name, "\(reason ?? "one of its numbers has more than nine digits"); if this is intended: \(cure)")
    }

    private mutating func complete(_ row: Release, _ release: StoreRelease, _ editedByOthers: Set<String>) {
        guard row.withdrawnAt == nil, !row.staged else { return }
        let lacksMinOS = row.minOS == nil && !editedByOthers.contains("min_os")
        let lacksTime = row.liveAt == nil && !editedByOthers.contains("live_at")
        guard lacksMinOS || lacksTime else { return }
        edits.append { editor, now in
            let minOS: [ColumnValue<Release>] = lacksMinOS ? [.init(\.minOS, release.minOS)] : []
            try editor.update(where: [.id(row.id)], set: minOS + (lacksTime ? [.init(\.liveAt, now)] : []))
        }
    }

    private mutating func refuse(_ release: String, _ reason: String, isFailure: Bool = true) -> Bool {
        refusals.append((CommandError("\(release) is not recorded: \(reason)"), isFailure))
        return false
    }
}

extension Release {
    /// Whether users in a country have it, as far as its row says; a row for some countries counts where none is named.
    fileprivate func isIn(_ country: String?) -> Bool { country.flatMap { regions?.contains($0) } ?? true }
}

struct StoreRelease: Sendable, Hashable, Codable {
    let version: String
    let minOS: String

    /// Whether its version does not follow from those that are known.
    ///
    /// The first number may be 1 or a hundredth above the greatest there is at its place, each other 20 or a quarter: so
    /// years, dates and counters of builds go on. A number of more than nine digits is known or follows from none.
    func leaps(above known: [AppVersion]) -> Bool {
        let known = known.compactMap { Self.numbers($0.text) }
        guard let numbers = Self.numbers(version) else { return true }
        return numbers.indices.contains { place in
            guard !known.isEmpty else { return numbers[place] > 999_999_999 }
            let greatest = known.map { place < $0.count ? $0[place] : 0 }.max() ?? 0
            return numbers[place] - greatest > (place == 0 ? max(1, greatest / 100) : max(20, greatest / 4))
        }
    }

    /// The numbers that a version begins with; nil if there is one that no store counts to.
    private static func numbers(_ version: String) -> [Int]? {
        let digits = version.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "." }
        let numbers = digits.split(separator: ".").map { Int($0) }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }
}

package import Logging
package import Postgres
import Synchronization
package import UpdatePolicy

/// The pages for people: what runs, whom rules reach, what changed. They read and never edit.
///
/// All that takes time happens on a thread of its own, at a lower priority than checks.
package actor PolicyPages {
    private let thread = PageThread()
    private let facts: @Sendable () -> ServerFacts
    private let clock: @Sendable () -> Timestamp
    private let database: PageDatabase
    private nonisolated let requests = Atomic(0)
    private var kept = KeptPages()

    /// The most requests that wait for the one that is answered.
    static let mostWaiting = 16

    /// The thread of the pages.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates the pages of a server.
    ///
    /// - Parameters:
    ///   - facts: What the server knows without its database.
    ///   - database: Where the database is, asked before each connection.
    ///   - clock: The time.
    ///   - logger: Gets what the database has to say.
    package init(
        facts: @escaping @Sendable () -> ServerFacts,
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.facts = facts
        self.clock = clock
        self.database = PageDatabase(on: thread, configuration: database, logger: logger)
    }

    /// Closes the connection to the database.
    package func close() async { await database.close() }

    /// Answers a GET.
    package nonisolated func respond(to request: PageRequest) async -> PageResponse {
        if case .asset(let name) = request.route, let asset = PageTemplates.all.assets[name] {
            return asset.response(knownTag: request.knownTag)
        }
        // Whoever waits has come to the thread of the pages already, so it is too late to count there.
        defer { requests.subtract(1, ordering: .relaxed) }
        guard requests.add(1, ordering: .relaxed).newValue <= Self.mostWaiting + 1 else { return Self.busy }
        return await page(request)
    }

    private static let busy = PageResponse(
        status: 503,
        text: """
            Too many pages are asked for at once. They are made one after the other, so that checks are not delayed. \
            Reload in a few seconds.

            """,
        fields: [("Retry-After", "5")]
    )

    private func page(_ request: PageRequest) async -> PageResponse {
        var scene = PageScene(facts: facts(), now: clock())
        let address = KeptPages.Address(route: request.route, query: request.query)
        if let page = kept.page(address, at: scene.now) { return page }
        do {
            let response = try await answer(request, &scene)
            if request.route != .attempt { kept.keep(response, address, at: scene.now) }
            return response
        } catch let problem as PageProblem {
            return scene.problem(problem)
        } catch {
            return scene.problem(PageProblem(500, "This page cannot be made", "\(error)"))
        }
    }

    private func answer(_ request: PageRequest, _ scene: inout PageScene) async throws -> PageResponse {
        let members = try request.members()
        return switch request.route {
        case .overview: try await response(OverviewPage(scene), &scene)
        case .app(let bundle): try await response(AppPage(bundle, PagePeriod(members), scene), &scene)
        case .rule(let key): try await response(RulePage(key, PagePeriod(members), scene), &scene)
        case .attempt: try await response(TryPage(TryQuestion(members), scene), &scene)
        case .history: try await response(HistoryPage(members), &scene)
        case .unknowns: try await response(UnknownsPage(), &scene)
        case .chart(let name, let owner):
            try await response(ChartFile(name, of: owner, PagePeriod(members), scene), &scene)
        case .asset, .nothing: throw PageProblem(404, "There is no such page", "The address may be misspelled.")
        }
    }

    private func response(_ page: some Page, _ scene: inout PageScene) async throws -> PageResponse {
        let figures = try await figures(of: page, &scene)
        return try page.response(figures, scene)
    }

    /// Reads what a page shows beside the policy in memory; nil, and a notice in the scene, where it cannot be read.
    private func figures<Shown: Page>(of page: Shown, _ scene: inout PageScene) async throws -> Shown.Figures? {
        guard scene.facts.databaseIsReachable else {
            scene.note(.away("the last attempts to reach it failed"))
            return nil
        }
        guard page.hasFigures else { return nil }
        do throws(PageDatabase.Fault) {
            return try await database.read { try page.figures($0) }
        } catch {
            scene.note(error)
            return nil
        }
    }
}

/// Something that the pages answer with.
protocol Page: Sendable {
    /// What it shows beside the policy in memory.
    associatedtype Figures: Sendable

    /// Whether there is anything to read.
    var hasFigures: Bool { get }

    /// Reads all of it, once and within one transaction.
    func figures(_ session: PostgresSession) throws -> Figures

    /// The answer.
    ///
    /// - Parameter figures: nil: they cannot be read, and the scene says why.
    func response(_ figures: Figures?, _ scene: PageScene) throws -> PageResponse
}

extension Page {
    var hasFigures: Bool { true }
}

/// The pages of the last seconds, so that many who look at one page cost as much as one.
struct KeptPages {
    /// What a page was asked by.
    struct Address: Hashable {
        let route: PageRoute
        let query: String
    }

    private static let microseconds: Int64 = 5_000_000
    private static let mostBytes = 8 << 20

    private var pages: [Address: (page: PageResponse, at: Timestamp)] = [:]
    private var bytes = 0

    func page(_ address: Address, at now: Timestamp) -> PageResponse? {
        guard let (page, at) = pages[address], at <= now, now < at.advanced(byMicroseconds: Self.microseconds) else {
            return nil
        }
        return page
    }

    mutating func keep(_ page: PageResponse, _ address: Address, at now: Timestamp) {
        guard page.status == 200, page.body.count <= Self.mostBytes / 4 else { return }
        let old = pages.filter { now >= $1.at.advanced(byMicroseconds: Self.microseconds) || now < $1.at }.keys
        for address in old { remove(address) }
        remove(address)
        if bytes + page.body.count > Self.mostBytes { (pages, bytes) = ([:], 0) }
        pages[address] = (page, now)
        bytes += page.body.count
    }

    private mutating func remove(_ address: Address) {
        if let (page, _) = pages.removeValue(forKey: address) { bytes -= page.body.count }
    }
}

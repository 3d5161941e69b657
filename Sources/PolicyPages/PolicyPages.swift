package import Hummingbird
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
    private var cache = PageCache()

    /// How many requests wait or are answered.
    nonisolated var load: Int { requests.load(ordering: .relaxed) }

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

    // MARK: - Routes

    private typealias Making = @Sendable (PageQuestion, PageContext) throws -> any Page

    private static let pages: [(path: RouterPath, make: Making)] = [
        ("/", { OverviewPage($1) }), ("/apps", { AppsPage($1) }),
        ("/apps/:bundle", { try AppPage($0.part("bundle"), $0.period(), $1) }), ("/rules", { RulesPage($1) }),
        ("/rules/:key", { try RulePage($0.part("key"), $0.period(), $1) }),
        ("/try", { try TryPage(CheckForm($0.members), $1) }),
        ("/history", { question, _ in try HistoryPage(question) }),
        ("/unknowns", { _, _ in UnknownsPage() }),
        ("/overview/{chart}.csv", { try ChartFile($0.part("chart"), of: .allApps, $0.period(), $1) }),
        (
            "/apps/:bundle/{chart}.csv",
            { try ChartFile($0.part("chart"), of: .app($0.part("bundle")), $0.period(), $1) }
        ),
        ("/rules/:key/{chart}.csv", { try ChartFile($0.part("chart"), of: .rule($0.part("key")), $0.period(), $1) }),
    ]

    /// Adds the pages, and what they load, to a router.
    package nonisolated func addRoutes(to routes: RouterGroup<some RequestContext>) {
        for (path, make) in Self.pages {
            routes.get(path) { request, context in await self.respond(to: request, context.parameters, make) }
        }
        for (name, asset) in PageTemplates.all.assets {
            routes.get(RouterPath("/assets/\(name)")) { request, _ in asset.response(to: request) }
        }
    }

    /// The page for an address at which there is none.
    package nonisolated func notFound(_ request: Request) async -> Response {
        await respond(to: request, Parameters()) { _, _ in
            throw PageProblem(404, "There is no such page", "The address may be misspelled.")
        }
    }

    // MARK: - Answers

    private nonisolated func respond(to request: Request, _ parameters: Parameters, _ make: Making) async -> Response {
        // Whoever waits has come to the thread of the pages already, so it is too late to count there.
        defer { requests.subtract(1, ordering: .relaxed) }
        guard requests.add(1, ordering: .relaxed).newValue <= Self.mostWaiting + 1 else {
            return .text(
                .serviceUnavailable,
                "Too many pages are asked for at once. They are made one after the other, so that checks are not delayed."
                    + " Reload in a few seconds.\n",
                [.retryAfter: "5"]
            )
        }
        return await page(request, parameters, make)
    }

    private func page(_ request: Request, _ parameters: Parameters, _ make: Making) async -> Response {
        var context = PageContext(facts: facts(), now: clock())
        let address = request.uri.string
        if let page = cache.page(address, at: context.now) { return page }
        do {
            let page = try make(PageQuestion(request, parameters), context)
            let response = try await response(page, &context)
            cache.keep(response, address, at: context.now)
            return response
        } catch let problem as PageProblem {
            return context.problem(problem)
        } catch {
            return context.problem(PageProblem(500, "This page cannot be made", "\(error)"))
        }
    }

    private func response<Shown: Page>(_ page: Shown, _ context: inout PageContext) async throws -> Response {
        let figures = try await figures(of: page, &context)
        return try page.response(figures, context)
    }

    /// Reads what a page shows beside the policy in memory; nil, and a note in the context, where it cannot be read.
    private func figures<Shown: Page>(of page: Shown, _ context: inout PageContext) async throws -> Shown.Figures? {
        guard context.facts.databaseIsReachable else {
            context.note(.away("the last attempts to reach it failed"))
            return nil
        }
        guard page.hasFigures else { return nil }
        do throws(PageDatabase.Fault) {
            return try await database.read { try page.figures($0) }
        } catch {
            context.note(error)
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
    /// - Parameter figures: nil: they cannot be read, and the context says why.
    func response(_ figures: Figures?, _ context: PageContext) throws -> Response
}

extension Page {
    var hasFigures: Bool { true }
}

/// The pages of the last seconds by their addresses, so that many who look at one page cost as much as one.
private struct PageCache {
    private static let microseconds: Int64 = 5_000_000
    private static let mostBytes = 8 << 20

    private var pages: [String: (page: Response, bytes: Int, at: Timestamp)] = [:]

    private static func isFresh(_ at: Timestamp, _ now: Timestamp) -> Bool {
        at <= now && now < at.advanced(byMicroseconds: microseconds)
    }

    func page(_ address: String, at now: Timestamp) -> Response? {
        pages[address].flatMap { Self.isFresh($0.at, now) ? $0.page : nil }
    }

    mutating func keep(_ page: Response, _ address: String, at now: Timestamp) {
        guard page.status == .ok, let bytes = page.body.contentLength, bytes <= Self.mostBytes / 4 else { return }
        pages = pages.filter { Self.isFresh($1.at, now) }
        if pages.values.reduce(bytes, { $0 + $1.bytes }) > Self.mostBytes { pages = [:] }
        pages[address] = (page, bytes, now)
    }
}

package import Hummingbird
package import Logging
import PolicyStore
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

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - facts: What the server knows without its database.
    ///   - database: Where the database is, asked before each connection.
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

    package func close() async { await database.close() }

    private typealias Making = @Sendable (inout Page) throws -> Response

    private static let pages: [(path: RouterPath, make: Making)] = [
        ("/", { try $0.overview() }), ("/apps", { try $0.apps() }), ("/apps/:bundle", { try $0.app() }),
        ("/rules", { try $0.rules() }), ("/rules/:key", { try $0.rule() }), ("/try", { try $0.triedCheck() }),
        ("/history", { try $0.history() }), ("/unknowns", { try $0.unknowns() }),
        ("/overview/{chart}.csv", { try $0.overviewChart() }), ("/apps/:bundle/{chart}.csv", { try $0.appChart() }),
        ("/rules/:key/{chart}.csv", { try $0.ruleChart() }),
    ]

    /// Adds the pages, and what they load, to a router.
    package nonisolated func addRoutes(to routes: RouterGroup<some RequestContext>) {
        for (path, make) in Self.pages {
            routes.get(path) { request, context in await self.respond(to: request, context.parameters, make) }
        }
        for (name, asset) in PageTemplates.assets {
            routes.get(RouterPath("/assets/\(name)")) { request, _ in asset.response(to: request) }
        }
    }

    /// The page for an address at which there is none.
    package nonisolated func notFound(_ request: Request) async -> Response {
        await respond(to: request, Parameters()) { _ in
            throw PageProblem(404, "There is no such page", "The address may be misspelled.")
        }
    }

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
        let (address, facts, now) = (request.uri.string, facts(), clock())
        if let page = cache.page(address, at: now) { return page }
        do {
            let question = try PageQuestion(request.uri.query ?? "", parameters)
            let response = try await response(facts.databaseIsReachable) { database in
                var page = Page(facts, at: now, question, database)
                return try make(&page)
            }
            cache.keep(response, address, at: now)
            return response
        } catch let problem as PageProblem {
            return Page(facts, at: now).problem(problem)
        } catch {
            return Page(facts, at: now).problem(
                PageProblem(500, "This page cannot be made", Sentence(String(describing: error))))
        }
    }

    /// Makes a page again within a transaction if it asks for the database, and without if that cannot be read.
    private func response(
        _ isReachable: Bool,
        _ make: @Sendable (Page.Database) throws -> Response
    ) async throws -> Response {
        do {
            return try make(isReachable ? .unasked : .unreadable(.away("the last attempts to reach it failed")))
        } catch is Page.NeedsDatabase {
            do {
                return try await database.read { try make(.open($0)) }
            } catch let fault as PageDatabase.Fault {
                return try make(.unreadable(fault))
            }
        }
    }
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

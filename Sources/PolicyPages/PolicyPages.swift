// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Logging
import PolicyFigures
public import Postgres
import Synchronization
public import UpdatePolicy

/// The pages for people: what runs, whom rules reach, what changed. They read and never edit.
///
/// All that takes time happens on a thread of its own, at a lower priority than checks.
public actor PolicyPages {
    /// The first parts of the paths of pages.
    public static let folders = Set(PageRoute.Folder.allCases.map(\.rawValue))

    private let thread = PageThread()
    private let facts: @Sendable () -> ServerFacts
    private let clock: @Sendable () -> Timestamp
    private let database: PageDatabase
    private nonisolated let requests = Atomic(0)
    private var kept = KeptPages()

    /// The most requests that wait for the one that is answered.
    static let mostWaiting = 16

    /// The thread of the pages.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates the pages of a server.
    ///
    /// - Parameters:
    ///   - facts: What the server knows without its database.
    ///   - database: Where the database is, asked before each connection.
    ///   - clock: The time.
    ///   - logger: Gets what the database has to say.
    public init(
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
    public func close() async { await database.close() }

    /// Answers a GET.
    public nonisolated func respond(to request: PageRequest) async -> PageResponse {
        if request.path.first == PageRoute.Folder.assets.rawValue, request.path.count == 2,
            let asset = PageTemplates.all.assets[request.path[1]]
        {
            return Self.response(asset, request)
        }
        // Whoever waits has come to the thread of the pages already, so it is too late to count there.
        defer { requests.subtract(1, ordering: .relaxed) }
        guard requests.add(1, ordering: .relaxed).newValue <= Self.mostWaiting + 1 else { return Self.busy }
        return await page(request)
    }

    private static let busy = PageResponse(
        status: 503,
        contentType: "text/plain; charset=utf-8",
        fields: [("Cache-Control", "no-store"), ("Retry-After", "5")],
        body: """
            Too many pages are asked for at once. They are made one after the other, so that checks are not delayed. \
            Reload in a few seconds.

            """.utf8
    )

    private static func response(_ asset: PageTemplates.Asset, _ request: PageRequest) -> PageResponse {
        let fields = [(name: "ETag", value: asset.tag), (name: "Cache-Control", value: "no-cache")]
        let isKnown = request.knownTag?.contains(asset.tag) ?? false
        return isKnown
            ? PageResponse(status: 304, contentType: nil, fields: fields, body: [])
            : PageResponse(contentType: asset.contentType, fields: fields, body: asset.body)
    }

    private func page(_ request: PageRequest) async -> PageResponse {
        let now = clock()
        var scene = PageScene(facts: facts(), now: now)
        guard let members = request.members else {
            return scene.problem(400, "This address cannot be read", "Its query is not encoded as addresses are.")
        }
        let address = request.path.map(Address.encoded).joined(separator: "/") + "?" + request.query
        if let page = kept.page(address, at: now) { return page }
        do {
            let route = try PageRoute(request.path, members)
            let response = try await answer(route, &scene)
            if route.isKept { kept.keep(response, address, at: now) }
            return response
        } catch let problem as PageProblem {
            return scene.problem(problem.status, problem.title, problem.text)
        } catch {
            return scene.problem(500, "This page cannot be made", "\(error)")
        }
    }

    private func answer(_ route: PageRoute, _ scene: inout PageScene) async throws -> PageResponse {
        switch route {
        case .overview:
            let time = scene.now
            let figures = try await read(&scene) { try OverviewPage.Figures(at: time, $0) }
            return OverviewPage(figures, scene).response
        case .overviewChart(let name):
            let time = scene.now
            return try await chart(name, of: "overview", &scene) { [try LockoutFigures(at: time, $0).chart] }
        case .app(let bundle, let days):
            let time = scene.now
            let keys = try AppPage.rules(bundle, scene).map(\.key)
            let figures = try await read(&scene) { try AppPage.Figures(bundle, keys, days, at: time, $0) }
            return try AppPage(bundle, days, figures, scene).response
        case .rule(let key, let days):
            let time = scene.now
            _ = try RulePage.rule(key, scene)
            let figures = try await read(&scene) { try RulePage.Figures(key, days, at: time, $0) }
            return try RulePage(key, days, figures, scene).response
        case .attempt(let question):
            if let past = question.past(now: scene.now, present: scene.facts.policy?.revision) {
                let policy = try await read(&scene) { try past.policy($0) }
                return TryPage(question, policy, isMissing: policy == nil, scene).response
            }
            if !scene.facts.databaseIsReachable { scene.note(.away("the last attempts to reach it failed")) }
            return TryPage(question, scene.facts.policy, scene).response
        case .history(let filter):
            let figures = try await read(&scene) { try HistoryPage.Figures(filter, $0) }
            return HistoryPage(filter, figures, scene).response
        case .unknowns:
            let figures = try await read(&scene) { try UnknownsPage.Figures($0) }
            return UnknownsPage(figures, scene).response
        case .appChart(let bundle, let name, let days):
            let time = scene.now
            _ = try AppPage.rules(bundle, scene)
            return try await chart(name, of: bundle, &scene) {
                try AppFigures(bundle: bundle, days: days, at: time, $0).charts
            }
        case .ruleChart(let key, let name, let days):
            let time = scene.now
            _ = try RulePage.rule(key, scene)
            return try await chart(name, of: key, &scene) {
                try RuleFigures(key: key, days: days, at: time, $0).charts
            }
        }
    }

    private func chart(
        _ name: String,
        of owner: String,
        _ scene: inout PageScene,
        _ charts: @Sendable (PostgresSession) throws -> [Chart]
    ) async throws -> PageResponse {
        guard let charts = try await read(&scene, charts) else {
            throw PageProblem(503, "These numbers cannot be read", scene.notices.map(\.text).joined(separator: " "))
        }
        guard let chart = charts.first(where: { $0.name == name }) else {
            let names = charts.map(\.name).joined(separator: ", ")
            throw PageProblem(404, "There is no such chart", "\(owner) has \(names.isEmpty ? "none" : names).")
        }
        // Of the names of both, what no header field and no file system minds.
        let file = "\(owner)-\(name)".unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789.-".unicodeScalars.contains(scalar))
                ? Character(scalar) : "_"
        }
        return PageResponse(
            contentType: "text/csv; charset=utf-8",
            fields: [
                ("Cache-Control", "no-store"),
                ("Content-Disposition", "attachment; filename=\"\(String(file.prefix(200))).csv\""),
            ],
            body: chart.csv.utf8
        )
    }

    /// Reads what a page shows beside the policy in memory; nil, and a notice in the scene, where it cannot be read.
    private func read<Result: Sendable>(
        _ scene: inout PageScene,
        _ body: @Sendable (PostgresSession) throws -> Result
    ) async throws -> Result? {
        guard scene.facts.databaseIsReachable else {
            scene.note(.away("the last attempts to reach it failed"))
            return nil
        }
        do throws(PageDatabase.Fault) {
            return try await database.read(body)
        } catch {
            scene.note(error)
            return nil
        }
    }
}

/// The page that a path and a query ask for.
enum PageRoute {
    case overview
    case app(String, days: Int)
    case rule(String, days: Int)
    case attempt(TryQuestion)
    case history(HistoryPage.Filter)
    case unknowns
    case overviewChart(name: String)
    case appChart(String, name: String, days: Int)
    case ruleChart(String, name: String, days: Int)

    /// The first part of a path.
    enum Folder: String, CaseIterable {
        case overview, apps, rules, `try`, history, unknowns, assets
    }

    /// The lengths of time that charts cover.
    static let allDays = [1, 7, 30, 90, 365]
    private static let usualDays = 30

    init(_ path: [String], _ members: [(name: String, value: String)]) throws(PageProblem) {
        guard members.count <= 100 else {
            throw PageProblem(400, "This address cannot be read", "Its query has more than 100 members.")
        }
        guard let first = path.first else {
            self = .overview
            return
        }
        switch (Folder(rawValue: first), path.count) {
        case (.apps, 2): self = .app(path[1], days: try Self.days(members))
        case (.rules, 2): self = .rule(path[1], days: try Self.days(members))
        case (.overview, 2) where path[1].hasSuffix(".csv"):
            self = .overviewChart(name: String(path[1].dropLast(4)))
        case (.apps, 3) where path[2].hasSuffix(".csv"):
            self = .appChart(path[1], name: String(path[2].dropLast(4)), days: try Self.days(members))
        case (.rules, 3) where path[2].hasSuffix(".csv"):
            self = .ruleChart(path[1], name: String(path[2].dropLast(4)), days: try Self.days(members))
        case (.try, 1): self = .attempt(try TryQuestion(members))
        case (.history, 1): self = .history(try HistoryPage.Filter(members))
        case (.unknowns, 1): self = .unknowns
        default: throw PageProblem(404, "There is no such page", "The address may be misspelled.")
        }
    }

    /// Whether its answer is kept for some seconds.
    var isKept: Bool {
        if case .attempt = self { false } else { true }
    }

    private static func days(_ members: [(name: String, value: String)]) throws(PageProblem) -> Int {
        guard let text = members.first(where: { $0.name == "days" })?.value else { return usualDays }
        guard let days = Int(text), allDays.contains(days) else {
            let choices = allDays.map(String.init).joined(separator: ", ")
            throw PageProblem(400, "This length of time is not shown", "days is \"\(text)\"; it may be \(choices).")
        }
        return days
    }
}

/// Why there is no page.
struct PageProblem: Error {
    let status: Int
    let title: String
    let text: String

    init(_ status: Int, _ title: String, _ text: String) {
        self.status = status
        self.title = title
        self.text = text
    }
}

/// The pages of the last seconds, so that many who look at one page cost as much as one.
private struct KeptPages {
    private static let microseconds: Int64 = 5_000_000
    private static let mostBytes = 8 << 20

    private var pages: [String: (page: PageResponse, at: Timestamp)] = [:]
    private var bytes = 0

    mutating func page(_ address: String, at now: Timestamp) -> PageResponse? {
        guard let (page, at) = pages[address], at <= now, now < at.advanced(byMicroseconds: Self.microseconds) else {
            return nil
        }
        return page
    }

    mutating func keep(_ page: PageResponse, _ address: String, at now: Timestamp) {
        guard page.status == 200, page.body.count <= Self.mostBytes / 4 else { return }
        let old = pages.filter { now >= $1.at.advanced(byMicroseconds: Self.microseconds) || now < $1.at }.keys
        for address in old { remove(address) }
        remove(address)
        if bytes + page.body.count > Self.mostBytes { pages = [:]; bytes = 0 }
        pages[address] = (page, now)
        bytes += page.body.count
    }

    private mutating func remove(_ address: String) {
        if let (page, _) = pages.removeValue(forKey: address) { bytes -= page.body.count }
    }
}

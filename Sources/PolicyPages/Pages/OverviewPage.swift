import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `/`: who is locked out and how to end that; then what brakes, what runs, what changed last.
struct OverviewPage: Page {
    struct Figures: Sendable {
        let status: DatabaseStatus?
        let changes: [PolicyChange]?
        /// Nil, as ``charts``, where the counts cannot be read.
        let apps: [AppRow]?
        let charts: [Chart]?
        /// Why they cannot.
        let countsFault: String?
        let statuses: RuleStatuses
    }

    private static let mostApps = 20

    private let policy: Policy?
    private let now: Timestamp

    init(_ context: PageContext) {
        policy = context.facts.policy == nil ? nil : context.policy(ofApp: nil)
        now = context.now
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        let status = try DatabaseStatus(session)
        let changes =
            status.hidden.contains(.history)
            ? nil : try PolicyHistory(session, rowsPerChange: 20).changes(HistoryFilter(limit: 5))
        var (rows, charts, fault): ([AppRow]?, [Chart]?, String?) = (nil, nil, nil)
        if !status.hidden.contains(.counts) {
            switch try CountReader(session).attempt({ reader in
                (
                    try reader.rows(of: policy?.apps ?? []),
                    try LockoutFigures.charts(at: now, session).map { try $0.chart() }
                )
            }) {
            case .success((let apps, let figures)): (rows, charts) = (apps, figures)
            case .failure(let error): fault = error.message
            }
        }
        return Figures(
            status: status, changes: changes, apps: rows, charts: charts, countsFault: fault,
            statuses: try policy.map { try RuleStatuses(of: EnabledLockout.rules(of: $0, at: now), in: $0, session) }
                ?? RuleStatuses(byKey: [:], fault: nil)
        )
    }

    func response(_ figures: Figures?, _ context: PageContext) -> Response {
        let status = figures?.status
        var context = context
        // A server by Install.md reads the policy and counts, and not the history: that is no fault.
        let hidden = status?.hidden.filter { $0 != .history } ?? []
        if let status, !hidden.isEmpty {
            context.noteForbidden("the \(hidden.map(\.rawValue).joined(separator: " and the "))", role: status.role)
        }
        context.noteCounts(figures?.countsFault)
        context.noteStatuses(figures?.statuses.fault)
        let lockouts =
            policy.map { EnabledLockout.all(in: $0, status?.shares, figures?.statuses.byKey ?? [:], at: now) } ?? []
        let isBraked = !context.facts.sendsLockouts || status?.isBraked ?? false
        var body = PageBody()
        body.add(Report.inForce(lockouts, isBraked: isBraked))
        body.add(context.notes.map { .note($0) })
        body.add(Report.clockFaults(nil, status?.servers ?? []))
        body.add((status?.fuses ?? []).compactMap(Report.blown))
        body.add(strip: Report.brakes(policy, status, isBraked: isBraked, at: now), in: context)
        body.add("charts", figures?.charts.map { context.charts($0, of: "/overview", nil) })
        let rows = figures?.apps?.map { (app: $0.app, counts: AppRow?.some($0)) } ?? AppsPage.unknown(policy)
        body.add(.heading("Apps in the last 24 hours", id: "apps"))
        body.add(.table(Report.apps(Array(rows.prefix(Self.mostApps)))))
        body.add(links: [Link(rows.count > Self.mostApps ? "All \(rows.count) apps" : "All apps", "/apps")])
        body.add(status.map(Report.unknownApps) ?? [])
        body.add(.heading("Recent changes", id: "changes"))
        body.add(
            history: figures?.changes, none: "Nothing was changed yet.",
            hiddenFrom: status.flatMap { $0.hidden.contains(.history) ? $0.role : nil }
        )
        body.add(.table(Report.events(policy, at: now)))
        body.add(status.map { [.table(Report.servers($0))] } ?? [])
        body.add(edits: edits(figures?.changes?.first, context.facts))
        return context.page("Overview", heading: Sentence(Self.summary(lockouts, context.facts)), in: "/", body)
    }

    private static func summary(_ lockouts: [EnabledLockout], _ facts: ServerFacts) -> String {
        // Without the statuses of all of them it is not known how many are in force.
        let isKnown = lockouts.allSatisfy { $0.status != nil }
        let what = isKnown ? "in force" : "enabled"
        let number = isKnown ? lockouts.count(where: \.locksOut) : lockouts.count
        if let policy = facts.policy, !policy.sendsLockouts {
            let why = facts.isBraked ? "The brake is on" : "This server sends no lockout"
            return
                "\(why): \(number) \(number == 1 ? "lockout is sent as a plain message" : "lockouts are sent as plain messages")."
        }
        return switch number {
        case 0: "No lockout is \(what)."
        case 1: "1 lockout is \(what)."
        case let number: "\(number) lockouts are \(what)."
        }
    }

    private func edits(_ newest: PolicyChange?, _ facts: ServerFacts) -> [Report.Edit] {
        guard facts.databaseIsReachable else { return [] }
        return [
            Report.Edit(
                "Stop every message of an app at once", command: "app pause BUNDLE",
                sql: "UPDATE apps SET paused = true WHERE bundle = 'BUNDLE';"
            )
        ]
            + (newest.map {
                [
                    Report.Edit(
                        "Take the newest change back", command: "undo \($0.id)", sql: "SELECT undo_change(\($0.id));"
                    )
                ]
            } ?? [])
    }
}

/// `/apps`: every app, with its checks.
struct AppsPage: Page {
    private let policy: Policy?
    private static let mostApps = 1_000

    init(_ context: PageContext) { policy = context.facts.policy == nil ? nil : context.policy(ofApp: nil) }

    /// Apps whose checks are not known.
    static func unknown(_ policy: Policy?) -> [(app: App, counts: AppRow?)] {
        (policy?.apps ?? []).sorted { $0.bundle < $1.bundle }.map { (app: $0, counts: nil) }
    }

    func figures(_ session: PostgresSession) throws -> Result<[AppRow], PostgresError> {
        try CountReader(session).attempt { try $0.rows(of: policy?.apps ?? []) }
    }

    func response(_ figures: Result<[AppRow], PostgresError>?, _ context: PageContext) -> Response {
        var context = context
        context.noteCounts(figures?.failure?.message)
        let rows = (try? figures?.get())?.map { (app: $0.app, counts: AppRow?.some($0)) } ?? Self.unknown(policy)
        var body = PageBody(context.notes)
        body.add(.table(Report.apps(Array(rows.prefix(Self.mostApps)))))
        body.add(.text("\(rows.count) \(rows.count == 1 ? "app" : "apps"), with its checks of the last 24 hours."))
        return context.page("Apps", in: "/apps", body)
    }
}

/// `/rules`: every rule, in the order of the messages.
struct RulesPage: Page {
    struct Figures: Sendable {
        let statuses: RuleStatuses
        let shares: [String: LockoutShare]
    }

    private static let mostRules = 500

    private let policy: Policy
    private let rules: [Rule]

    init(_ context: PageContext) {
        policy = context.policy(ofApp: nil)
        rules = Array(policy.rules.sorted(by: Rule.precedes).prefix(Self.mostRules))
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        Figures(
            statuses: try RuleStatuses(of: rules, in: policy, session),
            shares: try CountReader(session).ifReadable { _ in try LockoutShare.all(session) } ?? [:]
        )
    }

    func response(_ figures: Figures?, _ context: PageContext) -> Response {
        var context = context
        context.noteStatuses(figures?.statuses.fault)
        let present = rules.map { rule in
            PresentRule(
                rule, figures?.statuses.byKey[rule.key], share: figures?.shares[rule.key],
                sendsLockouts: context.facts.sendsLockouts
            )
        }
        var body = PageBody(context.notes)
        body.add(.table(Report.rules(present, ofApp: false, nil, at: context.now)))
        if policy.rules.count > rules.count {
            body.add(.text("Only the first \(rules.count) are shown: \(command: "rule list")"))
        }
        return context.page("Rules, in the order of their messages", in: "/rules", body)
    }
}

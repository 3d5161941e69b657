import Hummingbird
import PolicyStore
import Reports
import UpdatePolicy

extension Page {
    private static let mostAppsOfOverview = 20
    private static let mostApps = 1_000
    private static let mostRules = 500

    /// `/`: who is locked out and how to end that; then what brakes, what runs, what changed last.
    mutating func overview() throws -> Response {
        let (policy, now) = (wholePolicy, now)
        let status = try session.map { try DatabaseStatus($0) }
        // A server by Install.md reads the policy and counts, and not the history: that is no fault.
        let hidden = status?.hidden.filter { $0 != .history } ?? []
        if let status, !hidden.isEmpty {
            noteForbidden("the \(hidden.map(\.rawValue).joined(separator: " and the "))", role: status.role)
        }
        let counts =
            hidden.contains(.counts)
            ? nil
            : try counts { session in
                (
                    apps: try CountReader(session).rows(of: policy?.apps ?? []),
                    charts: try LockoutFigures.charts(at: now, session).map { try $0.chart() }
                )
            }
        let statuses = try policy.map { try self.statuses(of: EnabledLockout.rules(of: $0, at: now), in: $0) } ?? [:]
        let lockouts = (policy.map { EnabledLockout.all(in: $0, status?.shares, statuses, at: now) } ?? [])
            .filter { $0.status != nil || $0.rule.startsAt.map { $0 <= now } ?? true }
        let isBraked = isBraked(status?.servers)

        // Without the database nobody can edit: what stops lockouts then stands first.
        let inForce = Report.inForce(lockouts, isBraked: isBraked, canEdit: status != nil)
        if status == nil { add(inForce) } else { opening = inForce }
        add(Report.clockFaults(nil, status?.servers ?? []) + (status?.fuses ?? []).compactMap(Report.blown))
        let brake: Sentence? =
            facts.isBraked ? "\("on at this server", .part)" : status == nil ? "off at this server" : nil
        if let strip = view(Report.brakes(policy, status, here: brake, at: now), isStrip: true) {
            add("fields", strip)
        }
        add(.heading("Lockouts over time", id: "lockouts"))
        if let counts { add("charts", Self.charts(counts.charts, of: "/overview")) }
        let rows = appRows(counts?.apps, of: policy)
        let most = Self.mostAppsOfOverview
        add(.heading("Apps in the last 24 hours", id: "apps"), .table(Report.apps(Array(rows.prefix(most)))))
        add(links: [Self.link(rows.count > most ? "All \(rows.count) apps" : "All apps", "/apps")])
        add(status.map(Report.unknownApps) ?? [])
        add(.heading("Recent changes", id: "changes"))
        let changes = try addChanges(HistoryFilter(limit: 6), rowsPerChange: 20, none: "Nothing has been changed yet.")
        add(.table(Report.events(policy, at: now)))
        if let status { add(.table(Report.servers(status))) }
        if facts.databaseIsReachable {
            let undo = changes?.first.map { change in
                Report.Edit(
                    "Take the newest change back", command: "undo \(change.id)",
                    sql: "SELECT undo_change(\(change.id));"
                )
            }
            add(
                edits: [
                    Report.Edit(
                        "Stop every message of an app at once", command: "app pause BUNDLE",
                        sql: "UPDATE apps SET paused = true WHERE bundle = 'BUNDLE';"
                    ), undo,
                ].compactMap(\.self)
            )
        }
        return response("Overview", heading: Sentence(summary(lockouts, isBraked: isBraked)), in: "/")
    }

    private func summary(_ lockouts: [EnabledLockout], isBraked: Bool) -> String {
        guard facts.policy != nil else { return "Which lockouts are in force is not known." }
        // Without the statuses of all of them it is not known how many are in force.
        let isKnown = lockouts.allSatisfy { $0.status != nil }
        let what = isKnown ? "in force" : "enabled"
        let number = isKnown ? lockouts.count(where: \.locksOut) : lockouts.count
        if !facts.sendsLockouts {
            guard isBraked else {
                let why = facts.isBraked ? "The brake of this server is on" : "This server sends no lockout"
                return "\(why), but others send lockouts: \(number) \(number == 1 ? "is" : "are") \(what)."
            }
            let why = facts.isBraked ? "The brake is on" : "This server sends no lockout"
            return
                "\(why): \(number) \(number == 1 ? "lockout is sent as a plain message" : "lockouts are sent as plain messages")."
        }
        return number == 1
            ? "1 lockout is \(what)." : "\(number == 0 ? "No lockout is" : "\(number) lockouts are") \(what)."
    }

    /// The apps with their checks; without where those are not known.
    private func appRows(_ counted: [AppRow]?, of policy: Policy?) -> [(app: App, counts: AppRow?)] {
        counted?.map { (app: $0.app, counts: $0) }
            ?? (policy?.apps ?? []).sorted { $0.bundle < $1.bundle }.map { (app: $0, counts: nil) }
    }

    /// `/apps`: every app, with its checks.
    mutating func apps() throws -> Response {
        let policy = wholePolicy
        let rows = appRows(try counts { try CountReader($0).rows(of: policy?.apps ?? []) }, of: policy)
        add(
            .table(Report.apps(Array(rows.prefix(Self.mostApps)))),
            .text("\(rows.count) \(rows.count == 1 ? "app" : "apps"), with their checks of the last 24 hours.")
        )
        return response("Apps", in: "/apps")
    }

    /// `/rules`: every rule, in the order of the messages.
    mutating func rules() throws -> Response {
        let policy = policy(ofApp: nil)
        let rules = policy.rules.sorted(by: Rule.precedes).prefix(Self.mostRules)
        let statuses = try statuses(of: Array(rules), in: policy)
        let shares = try session.flatMap { session in
            try CountReader(session).ifReadable { _ in try LockoutShare.all(session) }
        }
        let present = rules.map { self.present($0, statuses, share: shares?[$0.key]) }
        add(.table(Report.rules(present, ofApp: false, nil, at: now)))
        if policy.rules.count > rules.count {
            add(.text("Only the first \(rules.count) are shown: \(command: "rule list")"))
        }
        return response("Rules, in the order of their messages", in: "/rules")
    }
}

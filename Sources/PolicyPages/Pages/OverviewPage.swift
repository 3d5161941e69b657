import PolicyStore
import Postgres
import UpdatePolicy

/// `/`: who is locked out and since when, what runs, what changed last.
struct OverviewPage: Page {
    struct Figures: Sendable {
        let status: DatabaseStatus
        let changes: [PolicyChange]?
        /// Nil, as ``chart``, where the counts cannot be read.
        let apps: [AppRow]?
        let chart: LockoutFigures?
        /// Why they cannot.
        let countsFault: String?
        let statuses: RuleStatuses
    }

    private static let mostApps = 100
    private static let mostLockouts = 50
    private static let mostEvents = 30
    private static let mostPausedApps = 20

    private let policy: Policy
    private let isPolicyKnown: Bool
    private let now: Timestamp

    init(_ scene: PageScene) {
        policy = scene.policy(ofApp: nil)
        isPolicyKnown = scene.facts.policy != nil
        now = scene.now
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        let status = try DatabaseStatus(session)
        let changes =
            status.hidden.contains(.history)
            ? nil : try PolicyHistory(session, rowsPerChange: 20).changes(HistoryFilter(limit: 5))
        var (rows, chart, fault): ([AppRow]?, LockoutFigures?, String?) = (nil, nil, nil)
        if !status.hidden.contains(.counts) {
            switch try CountReader(session).attempt({ reader in
                (try reader.rows(of: policy.apps), try LockoutFigures(at: now, session))
            }) {
            case .success((let apps, let figures)): (rows, chart) = (apps, figures)
            case .failure(let error): fault = error.message
            }
        }
        return Figures(
            status: status, changes: changes, apps: rows, chart: chart, countsFault: fault,
            statuses: try RuleStatuses(of: EnabledLockout.rules(of: policy, at: now), in: policy, session)
        )
    }

    func response(_ figures: Figures?, _ scene: PageScene) -> PageResponse {
        let status = figures?.status
        var scene = scene
        // A server by Install.md reads the policy and counts, and not the history: that is no fault.
        let hidden = status?.hidden.filter { $0 != .history } ?? []
        if let status, !hidden.isEmpty {
            scene.noteForbidden("the \(hidden.map(\.rawValue).joined(separator: " and the "))", role: status.role)
        }
        scene.note(countsFault: figures?.countsFault)
        scene.note(statusFault: figures?.statuses.fault)
        let apps = figures?.apps?.prefix(Self.mostApps).map(row) ?? appsWithoutChecks
        for fault in (status?.servers ?? []).compactMap(\.clockSentence) { scene.note(clockFault: fault) }
        let lockouts = EnabledLockout.all(in: policy, status?.shares, figures?.statuses.byKey ?? [:], at: now)
        let view: JSONValue = [
            "frame": scene.frame(in: .overview), "summary": Self.inForce(lockouts, scene.facts),
            "isCalm": !scene.facts.isBraked && !lockouts.contains { $0.locksOut && $0.share?.hasRisen ?? false },
            "hasChart": figures?.chart != nil, "isWhole": figures != nil,
            "charts": figures?.chart.map { [$0.chart.view(of: .allApps, nil)] },
            "lockouts": lockouts.prefix(Self.mostLockouts).map { Self.row($0, status, scene) },
            "brake": status?.brake,
            "moreLockouts": lockouts.count > Self.mostLockouts
                ? "\(lockouts.count - Self.mostLockouts) more are not shown: \(PrintedCommand("status"))" : nil,
            "blownFuses": status?.fuses?.filter { $0.state == .blown }.map { Self.row($0) },
            "armedFuses": Self.armedFuses(lockouts), "heldRamps": heldRamps(scene),
            "pausedApps": pausedApps, "apps": apps, "adding": PrintedCommand.text("app add BUNDLE"),
            "moreApps": policy.apps.count > apps.count
                ? "\(NumberText.count(Int64(policy.apps.count - apps.count))) more apps are not shown; of each there is a page: /apps/BUNDLE"
                : nil,
            "since": status.map { scene.time($0.countsSince) },
            "unknown": status?.counts?.unknownChecks,
            "history": scene.history(
                figures?.changes, none: "Nothing was changed yet.",
                hiddenFrom: status.flatMap { $0.hidden.contains(.history) ? $0.role : nil }
            ),
            "isPolicyKnown": isPolicyKnown,
            "events": policy.eventsOfNextDay(at: now).prefix(Self.mostEvents).map { event -> JSONValue in
                ["at": scene.time(event.at), "sentence": event.sentence]
            },
            "servers": status.map(servers), "edits": Self.edits(figures?.changes?.first, scene.facts),
        ]
        return PageTemplates.all.page("overview", view)
    }

    private static func inForce(_ lockouts: [EnabledLockout], _ facts: ServerFacts) -> String {
        // Without the statuses of all of them it is not known how many are in force.
        let isKnown = lockouts.allSatisfy { $0.status != nil }
        let what = isKnown ? "in force" : "enabled"
        let number = isKnown ? lockouts.count(where: \.locksOut) : lockouts.count
        if let policy = facts.policy, !policy.sendsLockouts {
            let why = facts.isBraked ? "The brake is on" : "This server sends no lockout"
            let what = number == 1 ? "lockout is sent as a plain message" : "lockouts are sent as plain messages"
            return "\(why): \(number) \(what)."
        }
        return switch number {
        case 0: "No lockout is \(what)."
        case 1: "1 lockout is \(what)."
        case let number: "\(number) lockouts are \(what)."
        }
    }

    private static func row(_ fuse: FuseStatus) -> JSONValue {
        ["key": fuse.rule, "address": PageRoute.rule(fuse.rule).path, "sentence": fuse.sentence]
    }

    /// How many of the lockouts have a fuse; nil where none has.
    private static func armedFuses(_ lockouts: [EnabledLockout]) -> String? {
        let armed = lockouts.count { $0.rule.fuse != nil }
        guard armed > 0 else { return nil }
        return "\(armed) of \(lockouts.count) \(lockouts.count == 1 ? "has" : "have") a fuse."
    }

    private static func row(_ lockout: EnabledLockout, _ status: DatabaseStatus?, _ scene: PageScene) -> JSONValue {
        [
            "key": lockout.rule.key, "address": PageRoute.rule(lockout.rule.key).path,
            "status": RuleWords(
                rule: lockout.rule, status: lockout.status, now: scene.now, sendsLockouts: scene.facts.sendsLockouts
            ).tag,
            "who": lockout.rule.who, "rollout": "\(lockout.rule.rollout(at: scene.now)) %",
            "ends": lockout.rule.endsAt.map(scene.time),
            "share": status?.isBraked ?? scene.facts.isBraked ? "brake" : lockout.shareText,
            "hasRisen": status?.isBraked != true && lockout.locksOut && lockout.share?.hasRisen ?? false,
            "app": lockout.rule.bundle ?? "every app",
            "since": lockout.share?.change.map { $0.sentence(at: scene.now) } ?? "not known",
            "off": PrintedCommand.text("rule disable \(lockout.rule.key.shellWord)"),
        ]
    }

    /// The rules whose ramp is held, each with since when.
    private func heldRamps(_ scene: PageScene) -> [JSONValue] {
        policy.rules.compactMap { rule in
            rule.holdInForce(at: now).map { since in
                ["key": rule.key, "address": PageRoute.rule(rule.key).path, "since": scene.time(since)]
            }
        }
    }

    private func row(_ row: AppRow) -> JSONValue {
        let (last, before) = (row.last, row.before)
        return Self.row(
            row.app, checks: NumberText.count(last.checks), messages: last.messageShare, lockouts: last.lockoutShare,
            before: before.lockoutShare, width: last.lockouts > 0 ? max(1, Int((last.lockoutPart * 100).rounded())) : 0
        )
    }

    private var appsWithoutChecks: [JSONValue] {
        policy.apps.sorted { $0.bundle < $1.bundle }.prefix(Self.mostApps).map { Self.row($0) }
    }

    /// - Parameters:
    ///   - before: The lockouts of the day before.
    ///   - width: That of the bar of lockouts, in per cent.
    private static func row(
        _ app: App,
        checks: String = "-",
        messages: String = "-",
        lockouts: String = "-",
        before: String = "-",
        width: Int = 0
    ) -> JSONValue {
        [
            "bundle": app.bundle, "address": PageRoute.app(app.bundle).path, "name": app.name, "paused": app.paused,
            "checks": checks, "messages": messages, "lockouts": lockouts, "before": before, "width": width,
        ]
    }

    private var pausedApps: String {
        let apps = policy.apps.filter(\.paused).map(\.bundle)
        let more = apps.count - Self.mostPausedApps
        return apps.prefix(Self.mostPausedApps).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private func servers(_ status: DatabaseStatus) -> [JSONValue] {
        let gone = status.goneServers.map { server -> JSONValue in
            [
                "host": server.name, "revision": server.revision,
                "remark": "gone; heard of last \(server.seenAt.distance(from: now) ?? "\(server.seenAt)")",
            ]
        }
        return gone
            + status.servers.map { server in
                let behind = status.revision.map { max(0, $0 - server.revision) } ?? 0
                let remarks = [
                    behind > 0 ? "\(behind) behind" : nil,
                    server.clockSentence == nil ? nil : "its clock is off, see above",
                ]
                return [
                    "host": server.address, "revision": server.revision,
                    "remark": (remarks.compactMap(\.self) + server.faults.map(\.sentence)).joined(separator: "; "),
                ]
            }
    }

    private static func edits(_ newest: PolicyChange?, _ facts: ServerFacts) -> [JSONValue] {
        guard facts.databaseIsReachable else {
            return [["what": "Send every lockout of this server as a plain message", "command": facts.brakeCommand]]
        }
        return [
            PageScene.edit(
                "Stop every message of an app at once", "app pause BUNDLE",
                sql: "UPDATE apps SET paused = true WHERE bundle = 'BUNDLE';"
            ),
            newest.map {
                PageScene.edit("Take the newest change back", "undo \($0.id)", sql: "SELECT undo_change(\($0.id));")
            },
        ].compactMap(\.self)
    }
}

extension DatabaseStatus.Counts {
    /// The checks that named an app that was not added, as `12 to 34 checks`; nil: none.
    var unknownChecks: String? {
        guard unknown.upperBound > 0 else { return nil }
        let least = unknown.lowerBound == unknown.upperBound ? "" : "\(NumberText.count(unknown.lowerBound)) to "
        return "\(least)\(NumberText.checks(unknown.upperBound))"
    }
}

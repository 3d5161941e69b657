// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// `/`: what runs, what changed last, whom apps lock out.
struct OverviewPage {
    /// What is read from the database.
    struct Figures: Sendable {
        let status: DatabaseStatus
        let changes: [PolicyChange]
        let apps: AppRows

        init(_ session: PostgresSession) throws {
            status = try DatabaseStatus(session)
            changes =
                status.hidden.contains(.history)
                ? [] : try PolicyHistory(session, rowsPerChange: 20).changes(HistoryFilter(limit: 5))
            apps = try CountReader(session).appRows(limit: OverviewPage.mostApps)
        }
    }

    private struct Server {
        let host: String
        let revision: String
        let behind: String
    }

    private struct App {
        let bundle: String
        let address: String
        let name: String
        let paused: Bool
        let checks: String
        let messages: String
        let lockouts: String
        /// The same of the day before.
        let before: String
        /// The width of the bar of lockouts, in per cent.
        let width: String
        let isHigh: Bool
    }

    private struct Lockout {
        let key: String
        let address: String
        let app: String
        let state: String
        let isOn: Bool
        let who: String
        let rollout: String
        let ends: [PageTime]
        let share: String
    }

    private struct Event {
        let at: PageTime
        let sentence: String
    }

    private struct View {
        let frame: PageScene.Frame
        let isWhole: Bool
        let summary: String
        let isCalm: Bool
        /// How many are locked out, and how that differs from the day before.
        let trend: String
        let servers: [Server]
        let hasServers: Bool
        let changes: [ChangeView]
        let showsChanges: Bool
        let hasChanges: Bool
        let apps: [App]
        let hasApps: Bool
        let moreApps: String
        let lockouts: [Lockout]
        let hasLockouts: Bool
        let moreLockouts: String
        let since: [PageTime]
        let events: [Event]
        let hasEvents: Bool
        let pausedApps: String
        let unknown: String
        let edits: [EditView]
    }

    static let mostApps = 100
    private static let mostLockouts = 50
    private static let mostEvents = 30

    private let figures: Figures?
    private let scene: PageScene

    init(_ figures: Figures?, _ scene: PageScene) {
        self.figures = figures
        var scene = scene
        if let status = figures?.status, !status.hidden.isEmpty {
            let names = status.hidden.map(\.rawValue).joined(separator: " and the ")
            scene.note(PageScene.forbidden("the \(names)", role: status.role))
        }
        self.scene = scene
    }

    var response: PageResponse {
        let status = figures?.status
        let apps = figures?.apps.rows.map(app) ?? appsInMemory
        let total = figures.map { Int($0.apps.count) } ?? scene.facts.policy?.appCount ?? 0
        let lockouts = status?.lockouts.map { $0.map(lockout) } ?? lockoutsInMemory
        let events =
            status?.events?.prefix(Self.mostEvents).map { Event(at: scene.time($0.at), sentence: $0.sentence) } ?? []
        let view = View(
            frame: scene.frame("Overview", section: "/"),
            isWhole: figures != nil,
            summary: summary(lockouts),
            isCalm: lockouts.allSatisfy { !$0.isOn },
            trend: figures.map { trend($0.apps) } ?? "",
            servers: servers,
            hasServers: !servers.isEmpty,
            changes: figures?.changes.map { ChangeView($0, scene) } ?? [],
            showsChanges: status?.hidden.contains(.history) == false,
            hasChanges: figures?.changes.isEmpty == false,
            apps: apps,
            hasApps: !apps.isEmpty,
            moreApps: total > apps.count
                ? "\(NumberText.count(Int64(total - apps.count))) more apps are not shown; of each there is a page: /apps/BUNDLE"
                : "",
            lockouts: Array(lockouts.prefix(Self.mostLockouts)),
            hasLockouts: !lockouts.isEmpty,
            moreLockouts: lockouts.count > Self.mostLockouts
                ? "\(lockouts.count - Self.mostLockouts) more are not shown: versiongate status" : "",
            since: status.map { [scene.time($0.countsSince)] } ?? [],
            events: events,
            hasEvents: !events.isEmpty,
            pausedApps: pausedApps,
            unknown: unknown,
            edits: [
                EditView(
                    what: "Stop every message of an app at once",
                    command: "versiongate app pause BUNDLE",
                    sql: "UPDATE apps SET paused = true WHERE bundle = 'BUNDLE';"
                ),
                EditView(
                    what: "Take the newest change back",
                    command: "versiongate undo \(figures?.changes.first.map { "\($0.id)" } ?? "CHANGE")",
                    sql: "SELECT undo_change(\(figures?.changes.first.map { "\($0.id)" } ?? "CHANGE"));"
                ),
            ]
        )
        return PageTemplates.all.page("overview", view)
    }

    private func summary(_ lockouts: [Lockout]) -> String {
        let on = lockouts.count { $0.isOn }
        return switch on {
        case 0: "No lockout is in force."
        case 1: "1 lockout is in force."
        default: "\(on) lockouts are in force."
        }
    }

    private func trend(_ apps: AppRows) -> String {
        guard apps.last.checks > 0 else { return apps.count > 0 ? "No app asked in the last 24 hours." : "" }
        let last = NumberText.share(apps.last.lockouts, ofChecks: apps.last.checks)
        let before =
            apps.before.checks > 0
            ? "\(NumberText.share(Double(apps.before.lockouts), of: Double(apps.before.checks))) the day before"
            : "nothing was counted the day before"
        return "In the last 24 hours \(last) were locked out, \(before)."
    }

    private var servers: [Server] {
        (figures?.status.servers ?? []).map { server in
            let behind = (figures?.status.revision).map { max(0, $0 - server.revision) } ?? 0
            return Server(
                host: server.host,
                revision: "\(server.revision)",
                behind: behind > 0
                    ? "\(behind) behind" : server.clockOffset == 0 ? "" : "clock \(server.clockOffset) s off"
            )
        }
    }

    private func app(_ row: AppRow) -> App {
        let (last, before) = (row.last, row.before)
        let share = last.checks > 0 ? Double(last.lockouts) / Double(last.checks) : 0
        return App(
            bundle: row.bundle,
            address: Address.app(row.bundle),
            name: row.name ?? "",
            paused: row.paused,
            checks: NumberText.count(last.checks),
            messages: NumberText.share(Double(last.messages), of: Double(last.checks)),
            lockouts: NumberText.share(Double(last.lockouts), of: Double(last.checks)),
            before: NumberText.share(Double(before.lockouts), of: Double(before.checks)),
            width: last.lockouts > 0 ? "\(max(1, Int((share * 100).rounded())))" : "0",
            isHigh: share >= 0.05
        )
    }

    private var appsInMemory: [App] {
        let sections = scene.facts.policy?.sections.compactMap(\.app) ?? []
        return sections.sorted { $0.bundle < $1.bundle }.prefix(Self.mostApps).map { app in
            App(
                bundle: app.bundle,
                address: Address.app(app.bundle),
                name: app.name ?? "",
                paused: app.paused,
                checks: "-",
                messages: "-",
                lockouts: "-",
                before: "-",
                width: "0",
                isHigh: false
            )
        }
    }

    private func lockout(_ lockout: DatabaseStatus.Lockout) -> Lockout {
        Lockout(
            key: lockout.key,
            address: Address.rule(lockout.key),
            app: lockout.bundle ?? "every app",
            state: lockout.waitsFor.map { "waits for \(PageScene.words.sentence($0))" } ?? "on",
            isOn: lockout.waitsFor == nil,
            who: RuleWords.who(lockout.versions, lockout.platforms),
            rollout: "\(lockout.rollout) %",
            ends: lockout.endsAt.map { [scene.time($0)] } ?? [],
            share: lockout.counts.map { counts in
                counts.checks == 0
                    ? "no checks"
                    : NumberText.share(Double(counts.lockedOut), of: Double(counts.checks))
                        + (Double(counts.checks) < NumberText.fewestJudged
                            ? "" : " of \(NumberText.count(counts.checks))")
            } ?? "not known"
        )
    }

    private var lockoutsInMemory: [Lockout] {
        let sections = scene.facts.policy?.sections ?? []
        return sections.flatMap { section in
            section.rules.filter { $0.enabled && $0.lockout }.map { rule in
                let words = RuleWords(rule: rule, isPaused: section.app?.paused ?? false, now: scene.now)
                return Lockout(
                    key: rule.key,
                    address: Address.rule(rule.key),
                    app: rule.bundle ?? "every app",
                    state: words.state,
                    isOn: words.locksOut,
                    who: RuleWords.who(
                        rule.target.map { "below \($0)" } ?? rule.versions,
                        rule.platforms?.joined(separator: ", ")
                    ),
                    rollout: "\(words.rollout) %",
                    ends: rule.endsAt.map { [scene.time($0)] } ?? [],
                    share: "not known"
                )
            }
        }
    }

    private var pausedApps: String {
        let apps =
            figures?.status.pausedApps
            ?? (scene.facts.policy?.sections ?? []).compactMap(\.app).filter(\.paused).map(\.bundle)
        guard !apps.isEmpty else { return "" }
        return apps.prefix(20).joined(separator: ", ") + (apps.count > 20 ? " and \(apps.count - 20) more" : "")
    }

    private var unknown: String {
        guard let unknown = figures?.status.unknownChecks, unknown.upperBound > 0 else { return "" }
        let least = unknown.lowerBound == unknown.upperBound ? "" : "\(NumberText.count(unknown.lowerBound)) to "
        return "\(least)\(NumberText.checks(unknown.upperBound)) named an app that was not added."
    }
}

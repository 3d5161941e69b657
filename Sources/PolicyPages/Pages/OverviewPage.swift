// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// `/`: who is locked out and since when, what runs, what changed last.
struct OverviewPage {
    /// What is read from the database.
    struct Figures: Sendable {
        let status: DatabaseStatus
        let changes: [PolicyChange]
        /// Nil, as ``lockouts``, where the counts cannot be read.
        let apps: AppRows?
        let lockouts: LockoutFigures?
        /// Why they cannot.
        let countsFault: String?

        init(at time: Timestamp, _ session: PostgresSession) throws {
            status = try DatabaseStatus(session)
            changes =
                status.hidden.contains(.history)
                ? [] : try PolicyHistory(session, rowsPerChange: 20).changes(HistoryFilter(limit: 5))
            guard !status.hidden.contains(.counts) else {
                (apps, lockouts, countsFault) = (nil, nil, nil)
                return
            }
            switch try CountReader(session).attempt({ reader in
                (try reader.appRows(limit: OverviewPage.mostApps), try LockoutFigures(at: time, session))
            }) {
            case .success((let rows, let figures)): (apps, lockouts, countsFault) = (rows, figures, nil)
            case .failure(let error): (apps, lockouts, countsFault) = (nil, nil, error.message)
            }
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
        /// Whether the share is higher than the day before, by at least a percentage point.
        let hasRisen: Bool
    }

    private struct Lockout {
        let key: String
        let address: String
        let status: StatusTag
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
        let hasChart: Bool
        let summary: String
        let isCalm: Bool
        let inForce: String
        let charts: [ChartView]
        let servers: [Server]
        let hasServers: Bool
        let changes: [ChangeView]
        let showsChanges: Bool
        /// Why there are no changes, where the role may not read them.
        let hidden: [PageScene.Notice]
        let hasChanges: Bool
        let apps: [App]
        let hasApps: Bool
        /// The command that adds one.
        let adding: String
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
        // A server by Install.md reads the policy and counts, and not the history: that is no fault.
        let hidden = figures?.status.hidden.filter { $0 != .history } ?? []
        if let status = figures?.status, !hidden.isEmpty {
            scene.note(
                PageScene.forbidden("the \(hidden.map(\.rawValue).joined(separator: " and the "))", role: status.role)
            )
        }
        scene.note(countsFault: figures?.countsFault)
        self.scene = scene
    }

    var response: PageResponse {
        let status = figures?.status
        let apps = figures?.apps?.rows.map(app) ?? appsInMemory
        let total = figures?.apps.map { Int($0.count) } ?? scene.facts.policy?.appCount ?? 0
        let lockouts = EnabledLockout.all(in: scene.policy(ofApp: nil), status?.counts, at: scene.now)
        let events =
            status?.events?.prefix(Self.mostEvents).map { Event(at: scene.time($0.at), sentence: $0.sentence) } ?? []
        let view = View(
            frame: scene.frame("Overview", section: "/"),
            isWhole: figures != nil,
            hasChart: figures?.lockouts != nil,
            summary: figures?.lockouts?.summary ?? inForce(lockouts),
            isCalm: figures?.lockouts?.hasRisen != true,
            inForce: figures?.lockouts == nil ? "" : inForce(lockouts),
            charts: figures?.lockouts.map { [$0.chart.view("/overview", 1)] } ?? [],
            servers: servers,
            hasServers: !servers.isEmpty,
            changes: figures?.changes.map { ChangeView($0, scene) } ?? [],
            showsChanges: status?.hidden.contains(.history) == false,
            hidden: status.map { status in
                status.hidden.contains(.history) ? [PageScene.forbidden("the history", role: status.role)] : []
            } ?? [],
            hasChanges: figures?.changes.isEmpty == false,
            apps: apps,
            hasApps: !apps.isEmpty,
            adding: PrintedCommand.text("app add BUNDLE"),
            moreApps: total > apps.count
                ? "\(NumberText.count(Int64(total - apps.count))) more apps are not shown; of each there is a page: /apps/BUNDLE"
                : "",
            lockouts: lockouts.prefix(Self.mostLockouts).map(lockout),
            hasLockouts: !lockouts.isEmpty,
            moreLockouts: lockouts.count > Self.mostLockouts
                ? "\(lockouts.count - Self.mostLockouts) more are not shown: \(PrintedCommand("status"))" : "",
            since: status.map { [scene.time($0.countsSince)] } ?? [],
            events: events,
            hasEvents: !events.isEmpty,
            pausedApps: pausedApps,
            unknown: unknown,
            edits: [
                EditView(
                    what: "Stop every message of an app at once",
                    command: PrintedCommand.text("app pause BUNDLE"),
                    sql: "UPDATE apps SET paused = true WHERE bundle = 'BUNDLE';"
                )
            ]
                + (figures?.changes.prefix(1) ?? []).map { change in
                    EditView(
                        what: "Take the newest change back",
                        command: PrintedCommand.text("undo \(change.id)"),
                        sql: "SELECT undo_change(\(change.id));"
                    )
                }
        )
        return PageTemplates.all.page("overview", view)
    }

    private func inForce(_ lockouts: [EnabledLockout]) -> String {
        let on = lockouts.count { $0.locksOut }
        return switch on {
        case 0: "No lockout is in force."
        case 1: "1 lockout is in force."
        default: "\(on) lockouts are in force."
        }
    }

    private var servers: [Server] {
        let gone = (figures?.status.goneServers ?? []).map { server in
            Server(
                host: server.name,
                revision: "\(server.revision)",
                behind: "gone; heard of last \(server.seenAt.distance(from: scene.now) ?? "\(server.seenAt)")"
            )
        }
        return gone
            + (figures?.status.servers ?? []).map { server in
                let behind = (figures?.status.revision).map { max(0, $0 - server.revision) } ?? 0
                return Server(
                    host: server.address,
                    revision: "\(server.revision)",
                    behind: ([
                        behind > 0 ? "\(behind) behind" : nil,
                        server.clockOffset == 0 ? nil : "clock \(server.clockOffset) s off",
                    ].compactMap(\.self) + server.faults.map(\.sentence)).joined(separator: "; ")
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
            hasRisen: share - (before.checks > 0 ? Double(before.lockouts) / Double(before.checks) : 0) >= 0.01
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
                hasRisen: false
            )
        }
    }

    private func lockout(_ lockout: EnabledLockout) -> Lockout {
        Lockout(
            key: lockout.rule.key,
            address: Address.rule(lockout.rule.key),
            status: StatusTag(lockout.status, of: lockout.rule),
            who: lockout.rule.who,
            rollout: "\(lockout.status.rollout) %",
            ends: lockout.rule.endsAt.map { [scene.time($0)] } ?? [],
            share: lockout.share
        )
    }

    private var pausedApps: String {
        let apps =
            figures?.status.pausedApps
            ?? (scene.facts.policy?.sections ?? []).compactMap(\.app).filter(\.paused).map(\.bundle)
        guard !apps.isEmpty else { return "" }
        return apps.prefix(20).joined(separator: ", ") + (apps.count > 20 ? " and \(apps.count - 20) more" : "")
    }

    private var unknown: String {
        guard let unknown = figures?.status.counts?.unknown, unknown.upperBound > 0 else { return "" }
        let least = unknown.lowerBound == unknown.upperBound ? "" : "\(NumberText.count(unknown.lowerBound)) to "
        return "\(least)\(NumberText.checks(unknown.upperBound)) named an app that was not added."
    }
}

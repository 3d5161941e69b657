// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// `/apps/BUNDLE`: who is on what, whom the rules reach, what can be had.
struct AppPage {
    /// What is read from the database.
    struct Figures: Sendable {
        let charts: [Chart]
        let lastDay: LastDay
    }

    private struct RuleRow {
        let key: String
        let address: String
        let title: String
        let who: String
        let status: StatusTag
        let lockout: Bool
        let everyApp: Bool
        let rollout: String
        let sent: String
        let lockedOut: String
    }

    private struct ReleaseRow {
        let version: String
        let platform: String
        let state: String
        let time: [PageTime]
        let limits: String
    }

    private struct View {
        let frame: PageScene.Frame
        let bundle: String
        let name: String
        let note: String
        let paused: Bool
        let links: [RuleWords.Line]
        let checks: String
        let days: [DaysView]
        let charts: [ChartView]
        let hasCharts: Bool
        let isWhole: Bool
        let rules: [RuleRow]
        let hasRules: Bool
        let moreRules: String
        let releases: [ReleaseRow]
        let hasReleases: Bool
        let moreReleases: String
        let tryAddress: String
        let edits: [EditView]
    }

    private static let mostRules = 200
    private static let mostReleases = 100

    private let section: PolicySection
    private let bundle: String
    private let days: Int
    private let figures: Figures?
    private let scene: PageScene

    init(_ bundle: String, _ days: Int, _ figures: Figures?, _ scene: PageScene) throws(PageProblem) {
        section = try Self.section(bundle, scene)
        self.bundle = section.app?.bundle ?? bundle
        self.days = days
        self.figures = figures
        self.scene = scene
    }

    private static func section(_ bundle: String, _ scene: PageScene) throws(PageProblem) -> PolicySection {
        if let section = scene.facts.policy?.section(ofApp: bundle), section.app != nil { return section }
        let bundles = scene.facts.policy?.sections.compactMap { $0.app?.bundle } ?? []
        let similar = SimilarNames.of(bundle, among: bundles).first.map { " Did you mean \($0)?" } ?? ""
        throw PageProblem(
            404,
            "There is no such app",
            "The policy of this server has no app \(bundle).\(similar) To add it: \(PrintedCommand("app add \(bundle.shellWord)"))"
        )
    }

    /// The rules that may reach the app, in the order of their messages; the first ones where there are many.
    static func rules(_ bundle: String, _ scene: PageScene) throws(PageProblem) -> [Rule] {
        let own = try section(bundle, scene).rules
        let general = scene.facts.policy?.sections.last { $0.app == nil && $0.rules.first?.bundle == nil }?.rules ?? []
        return Array((own + general).sorted(by: Rule.precedes).prefix(mostRules))
    }

    var response: PageResponse {
        let rules = (try? Self.rules(bundle, scene)) ?? []
        let isPaused = section.app?.paused ?? false
        let statuses = scene.policy(ofApp: bundle).ruleStatuses(at: scene.now)
        let releases = section.releases.sorted { left, right in
            (left.liveAt ?? Timestamp(microsecondsSince1970: .max), left.id)
                > (right.liveAt ?? Timestamp(microsecondsSince1970: .max), right.id)
        }
        let quoted = bundle.shellWord
        let literal = bundle.sqlLiteral
        // That of the newest release is the one that is meant most often.
        let platform = releases.first?.platform ?? "PLATFORM"
        let view = View(
            frame: scene.frame(bundle, section: "/"),
            bundle: bundle,
            name: section.app?.name ?? "",
            note: section.app?.note ?? "",
            paused: isPaused,
            links: section.app?.storeLinks.map { RuleWords.Line(term: $0.platform, text: $0.link) } ?? [],
            checks: figures.map { NumberText.checks($0.lastDay.checks) } ?? "",
            days: DaysView.all(Address.app(bundle), current: days),
            charts: figures?.charts.map { $0.view(Address.app(bundle), days) } ?? [],
            hasCharts: figures?.charts.contains { !$0.isEmpty } ?? false,
            isWhole: figures != nil,
            rules: rules.compactMap { rule in statuses[rule.key].map { row(rule, $0) } },
            hasRules: !rules.isEmpty,
            moreRules: rules.count == Self.mostRules
                ? "Only the first \(rules.count) are shown: \(PrintedCommand("rule list --bundle \(quoted)"))" : "",
            releases: releases.prefix(Self.mostReleases).map(row),
            hasReleases: !releases.isEmpty,
            moreReleases: releases.count > Self.mostReleases
                ? "\(releases.count - Self.mostReleases) more are not shown: \(PrintedCommand("release list --bundle \(quoted)"))"
                : "",
            tryAddress: "/try?bundle=\(Address.encoded(bundle))",
            edits: [
                isPaused
                    ? EditView(
                        what: "Let messages reach it again",
                        command: PrintedCommand.text("app resume \(quoted)"),
                        sql: "UPDATE apps SET paused = false WHERE bundle = \(literal);"
                    )
                    : EditView(
                        what: "Stop every message to it at once",
                        command: PrintedCommand.text("app pause \(quoted)"),
                        sql: "UPDATE apps SET paused = true WHERE bundle = \(literal);"
                    ),
                EditView(
                    what: "Lock out one bad version",
                    command: PrintedCommand.text("block \(quoted) VERSION --platform \(platform)"),
                    sql:
                        "INSERT INTO rules (key, bundle, versions, lockout, enabled, title, text) VALUES ('KEY', \(literal), '=VERSION', true, true, 'TITLE', 'TEXT');"
                ),
                EditView(
                    what: "Record a release",
                    command: PrintedCommand.text("release add \(quoted) VERSION --platform \(platform) --live-at now"),
                    sql:
                        "INSERT INTO releases (bundle, platform, version, live_at) VALUES (\(literal), '\(platform)', 'VERSION', now());"
                ),
            ]
        )
        return PageTemplates.all.page("app", view)
    }

    private func row(_ rule: Rule, _ status: RuleStatus) -> RuleRow {
        let counts = figures?.lastDay.rules[rule.key]
        let whole = Double(figures?.lastDay.checks ?? 0)
        // What a rule for every app was sent is not told app by app.
        func share(_ count: Int64?) -> String {
            guard figures != nil else { return "-" }
            return rule.bundle == nil
                ? "\(NumberText.count(count ?? 0)), all apps"
                : whole > 0 ? NumberText.share(min(whole, Double(count ?? 0)), of: whole) : "no checks"
        }
        return RuleRow(
            key: rule.key,
            address: Address.rule(rule.key),
            title: rule.title,
            who: rule.audience,
            status: StatusTag(status, of: rule),
            lockout: rule.lockout,
            everyApp: rule.bundle == nil,
            rollout: "\(status.rollout) %",
            sent: share(counts?.sent),
            lockedOut: rule.lockout ? share(counts?.lockouts) : ""
        )
    }

    private func row(_ release: Release) -> ReleaseRow {
        let (state, time): (String, Timestamp?) =
            switch release.state(at: scene.now) {
            case .live(let live): ("live since", live)
            case .comes(let live): ("live from", live)
            case .staged: ("staged", nil)
            case .noDate: ("no date", nil)
            case .withdrawn(let withdrawn): ("withdrawn", withdrawn)
            }
        let limits = [
            release.minOS.map { "from system \($0) on" }, release.regions.map { "in \($0.joined(separator: ", "))" },
        ].compactMap(\.self).joined(separator: ", ")
        return ReleaseRow(
            version: release.label,
            platform: Platform(release.platform).displayName,
            state: state,
            time: time.map { [scene.time($0)] } ?? [],
            limits: limits
        )
    }
}

extension Chart {
    /// The chart on a page.
    func view(_ address: String, _ days: Int) -> ChartView {
        ChartView(
            name: name,
            question: question,
            answer: answer,
            isEmpty: isEmpty,
            svg: isEmpty ? "" : ChartSVG(self).svg,
            table: isEmpty ? "" : ChartTable(self).html,
            csv: "\(address)/\(Address.encoded(name)).csv?days=\(days)"
        )
    }
}

extension AppPage.Figures {
    init(_ bundle: String, _ keys: [String], _ days: Int, at time: Timestamp, _ session: PostgresSession) throws {
        charts = try AppFigures(bundle: bundle, days: days, at: time, session).charts
        lastDay = try CountReader(session).lastDay(of: bundle, rules: keys)
    }
}

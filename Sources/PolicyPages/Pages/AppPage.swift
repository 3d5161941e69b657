import PolicyStore
import Postgres
import UpdatePolicy

/// `/apps/BUNDLE`: who is on what, whom the rules reach, what can be had.
struct AppPage: Page {
    struct Figures: Sendable {
        let charts: [Chart]
        let lastDay: LastDay
        let statuses: RuleStatuses
    }

    private static let mostRules = 200
    private static let mostReleases = 100

    private let app: App
    private let policy: Policy
    /// Those that may reach the app, in the order of their messages; the first ones where there are many.
    private let rules: [Rule]
    private let releases: [Release]
    private let period: PagePeriod
    private let now: Timestamp

    init(_ bundle: String, _ period: PagePeriod, _ scene: PageScene) throws(PageProblem) {
        let section: PolicySection
        (app, section) = try scene.section(ofApp: bundle)
        policy = scene.policy(ofApp: app.bundle)
        rules = Array(policy.rules.sorted(by: Rule.precedes).prefix(Self.mostRules))
        releases = section.releases.sorted { left, right in
            let never = Timestamp(microsecondsSince1970: .max)
            return (left.liveAt ?? never, left.id) > (right.liveAt ?? never, right.id)
        }
        self.period = period
        now = scene.now
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        let counts = AppCounts(bundle: app.bundle, in: policy, days: period.days, at: now, session)
        return Figures(
            charts: try counts.charts.map { try $0.chart() },
            lastDay: try CountReader(session).lastDay(of: app.bundle, rules: rules.map(\.key)),
            statuses: try RuleStatuses(of: rules, in: policy, session)
        )
    }

    func response(_ figures: Figures?, _ scene: PageScene) -> PageResponse {
        let quoted = app.bundle.shellWord
        var scene = scene
        scene.note(statusFault: figures?.statuses.fault)
        let view: JSONValue = [
            "frame": scene.frame(app.bundle, in: .overview), "bundle": app.bundle, "name": app.name,
            "paused": app.paused, "checks": figures.map { NumberText.checks($0.lastDay.checks) },
            "period": period.choices(.app(app.bundle)), "isWhole": figures != nil,
            "charts": figures?.charts.map { $0.view(of: .app(app.bundle), period) },
            "rules": rules.map { row($0, figures, scene) },
            "moreRules": policy.rules.count > rules.count
                ? "Only the first \(rules.count) are shown: \(PrintedCommand("rule list --bundle \(quoted)"))" : nil,
            "releases": releases.prefix(Self.mostReleases).map { row($0, scene) },
            "moreReleases": releases.count > Self.mostReleases
                ? "\(releases.count - Self.mostReleases) more are not shown: \(PrintedCommand("release list --bundle \(quoted)"))"
                : nil,
            "tryAddress": TryPage.address(ofApp: app.bundle), "edits": edits,
        ]
        return PageTemplates.all.page("app", view)
    }

    private func row(_ rule: Rule, _ figures: Figures?, _ scene: PageScene) -> JSONValue {
        let lastDay = figures?.lastDay
        // What a rule for every app was sent is not told app by app.
        func share(_ count: Int64) -> String {
            guard let checks = lastDay?.checks else { return "-" }
            if rule.bundle == nil { return "\(NumberText.count(count)), all apps" }
            return checks > 0 ? NumberText.share(Double(min(checks, count)), of: Double(checks)) : "no checks"
        }
        let counts = lastDay?.rules[rule.key] ?? (sent: 0, lockouts: 0)
        return [
            "key": rule.key, "address": PageRoute.rule(rule.key).path, "title": rule.title, "who": rule.audience,
            "status": RuleWords(
                rule: rule, status: figures?.statuses.byKey[rule.key], now: now,
                sendsLockouts: scene.facts.sendsLockouts
            ).tag,
            "lockout": rule.lockout, "everyApp": rule.bundle == nil, "rollout": "\(rule.rollout(at: now)) %",
            "sent": share(counts.sent), "lockedOut": rule.lockout ? share(counts.lockouts) : nil,
        ]
    }

    private func row(_ release: Release, _ scene: PageScene) -> JSONValue {
        let (state, time): (String, Timestamp?) =
            switch release.state(at: now) {
            case .live(let live): ("live since", live)
            case .comes(let live): ("live from", live)
            case .staged: ("staged", nil)
            case .noDate: ("no date", nil)
            case .withdrawn(let withdrawn): ("withdrawn", withdrawn)
            }
        let limits = [
            release.minOS.map { "from system \($0) on" }, release.regions.map { "in \($0.joined(separator: ", "))" },
        ].compactMap(\.self).joined(separator: ", ")
        return [
            "version": release.label, "platform": Platform(release.platform).displayName, "state": state,
            "time": time.map(scene.time), "limits": limits,
        ]
    }

    private var edits: [JSONValue] {
        let (quoted, literal) = (app.bundle.shellWord, app.bundle.sqlLiteral)
        // That of the newest release is the one that is meant most often.
        let platform = releases.first?.platform ?? "PLATFORM"
        let system = releases.first?.minOS ?? "OS"
        return [
            PageScene.edit(
                app.paused ? "Let messages reach it again" : "Stop every message to it at once",
                "app \(app.paused ? "resume" : "pause") \(quoted)",
                sql: "UPDATE apps SET paused = \(!app.paused) WHERE bundle = \(literal);"
            ),
            PageScene.edit(
                "Lock out one bad version",
                "block \(quoted) VERSION",
                sql: "INSERT INTO rules (key, bundle, versions, lockout, enabled, link, title, text)"
                    + " VALUES ('block-VERSION', \(literal), '=VERSION', true, true, 'store', 'Please update',"
                    + " 'This version of {app} does not work correctly. Please install the newest version.');"
            ),
            PageScene.edit(
                "Record a release",
                "release add \(quoted) VERSION --platform \(platform) --min-os \(system.shellWord) --live-at now",
                sql: "INSERT INTO releases (bundle, platform, version, min_os, live_at)"
                    + " VALUES (\(literal), '\(platform)', 'VERSION', \(system.sqlLiteral), now());"
            ),
        ]
    }
}

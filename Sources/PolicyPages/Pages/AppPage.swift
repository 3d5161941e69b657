import Hummingbird
import PolicyStore
import Postgres
import Reports
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

    init(_ bundle: String, _ period: PagePeriod, _ context: PageContext) throws(PageProblem) {
        let section: PolicySection
        (app, section) = try context.section(ofApp: bundle)
        policy = context.policy(ofApp: app.bundle)
        rules = Array(policy.rules.sorted(by: Rule.precedes).prefix(Self.mostRules))
        releases = section.releases.sorted { left, right in
            let never = Timestamp(microsecondsSince1970: .max)
            return (left.liveAt ?? never, left.id) > (right.liveAt ?? never, right.id)
        }
        self.period = period
        now = context.now
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        let counts = AppCounts(bundle: app.bundle, in: policy, days: period.days, at: now, session)
        return Figures(
            charts: try counts.charts.map { try $0.chart() },
            lastDay: try CountReader(session).lastDay(of: app.bundle, rules: rules.map(\.key)),
            statuses: try RuleStatuses(of: rules, in: policy, session)
        )
    }

    func response(_ figures: Figures?, _ context: PageContext) -> Response {
        let quoted = app.bundle.shellWord
        var context = context
        context.noteStatuses(figures?.statuses.fault)
        var body = PageBody(context.notes)
        let checks = figures.map { "\(NumberText.checks($0.lastDay.checks)) in the last 24 hours. " } ?? ""
        body.add(
            .text(
                "\(checks)\("What does a client of it get?", .check(app.bundle)) \("Its changes", .history(of: app.bundle))"
            )
        )
        body.add(.heading("Rules, in the order of their messages", id: "rules"))
        body.add(
            .table(
                Report.rules(
                    rules.map {
                        PresentRule(
                            $0, figures?.statuses.byKey[$0.key], sendsLockouts: context.facts.sendsLockouts
                        )
                    }, ofApp: true, figures?.lastDay, at: now
                )
            )
        )
        if policy.rules.count > rules.count {
            body.add(.text("Only the first \(rules.count) are shown: \(command: "rule list --bundle \(quoted)")"))
        }
        body.add(.heading("Checks", id: "figures"))
        body.add("charts", context.charts(figures?.charts, of: Subject.app(app.bundle).address, period))
        body.add(.heading("Releases, the newest first", id: "releases"))
        body.add(.table(table))
        if releases.count > Self.mostReleases {
            body.add(
                .text(
                    "\(releases.count - Self.mostReleases) more are not shown: \(command: "release list --bundle \(quoted)")"
                )
            )
        }
        body.add(edits: edits)
        return context.page(
            app.bundle, heading: "\(app.bundle) \(aside: app.name)\(Report.tag("paused", if: app.paused, .part))",
            in: "/apps", body
        )
    }

    private var table: Table {
        let now = now
        return Table(
            summary: releases.count > 5 ? "Show \(min(releases.count, Self.mostReleases)) releases" : nil,
            ifEmpty:
                "None is recorded, so there is no update that clients could be sent to. To add one: \(command: "release add --help")",
            Array(releases.prefix(Self.mostReleases)),
            columns: [
                Column("Version", isName: true) { .text($0.label) },
                Column("Platform") { .text(Platform($0.platform).displayName) },
                Column("State") { .sentence(Self.state($0, at: now)) },
                Column("For") { release in
                    .text(
                        [
                            release.minOS.map { "from system \($0) on" },
                            release.regions.map { "in \($0.joined(separator: ", "))" },
                        ].compactMap(\.self).joined(separator: ", ")
                    )
                },
            ]
        )
    }

    private static func state(_ release: Release, at now: Timestamp) -> Sentence {
        switch release.state(at: now) {
        case .live(let live): "live since \(timeAndDistance: live)"
        case .comes(let live): "live from \(timeAndDistance: live)"
        case .staged: "staged"
        case .noDate: "no date"
        case .withdrawn(let withdrawn): "withdrawn \(timeAndDistance: withdrawn)"
        }
    }

    private var edits: [Report.Edit] {
        let (quoted, literal) = (app.bundle.shellWord, app.bundle.sqlLiteral)
        // That of the newest release is the one that is meant most often.
        let platform = releases.first?.platform ?? "PLATFORM"
        let system = releases.first?.minOS ?? "OS"
        return [
            Report.Edit(
                app.paused ? "Let messages reach it again" : "Stop every message to it at once",
                command: "app \(app.paused ? "resume" : "pause") \(quoted)",
                sql: "UPDATE apps SET paused = \(!app.paused) WHERE bundle = \(literal);"
            ),
            Report.Edit(
                "Lock out one bad version", command: "block \(quoted) VERSION",
                sql: "INSERT INTO rules (key, bundle, versions, lockout, enabled, link, title, text)"
                    + " VALUES ('block-VERSION', \(literal), '=VERSION', true, true, 'store', 'Please update',"
                    + " 'This version of {app} does not work correctly. Please install the newest version.');"
            ),
            Report.Edit(
                "Record a release",
                command:
                    "release add \(quoted) VERSION --platform \(platform.shellWord) --min-os \(system.shellWord) --live-at now",
                sql: "INSERT INTO releases (bundle, platform, version, min_os, live_at)"
                    + " VALUES (\(literal), \(platform.sqlLiteral), 'VERSION', \(system.sqlLiteral), now());"
            ),
        ]
    }
}

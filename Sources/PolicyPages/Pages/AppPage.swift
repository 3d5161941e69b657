import Hummingbird
import PolicyStore
import Reports
import UpdatePolicy

extension Page {
    private static let mostRules = 200
    private static let mostReleases = 100

    /// `/apps/BUNDLE`: who is on what, whom the rules reach, what can be had.
    mutating func app() throws -> Response {
        let days = try question.days()
        let (app, section) = try namedApp()
        let (policy, now, quoted) = (policy(ofApp: app.bundle), now, app.bundle.shellWord)
        let rules = policy.rules.sorted(by: Rule.precedes).prefix(Self.mostRules)
        let figures = try session.map { session in
            (
                charts: try AppCounts(bundle: app.bundle, in: policy, days: days, at: now, session).charts
                    .map { try $0.chart() },
                lastDay: try CountReader(session).lastDay(of: app.bundle, rules: rules.map(\.key))
            )
        }
        let statuses = try statuses(of: Array(rules), in: policy)
        let checks = figures.map { "\(NumberText.checks($0.lastDay.checks)) in the last 24 hours. " } ?? ""
        add(
            .text(
                "\(checks)\("What does a client of it get?", .check(app.bundle)) \("Its changes", .history(of: app.bundle))"
            ),
            .heading("Rules, in the order of their messages", id: "rules"),
            .table(Report.rules(rules.map { present($0, statuses) }, ofApp: true, figures?.lastDay, at: now))
        )
        if policy.rules.count > rules.count {
            add(.text("Only the first \(rules.count) are shown: \(command: "rule list --bundle \(quoted)")"))
        }
        add(.heading("Checks", id: "figures"))
        add("charts", Self.charts(figures?.charts, of: Subject.app(app.bundle).address, days: days))
        let releases = section.releases.sorted { left, right in
            let never = Timestamp(microsecondsSince1970: .max)
            return (left.liveAt ?? never, left.id) > (right.liveAt ?? never, right.id)
        }
        add(.heading("Releases, the newest first", id: "releases"), .table(Self.table(of: releases, at: now)))
        let more = releases.count - Self.mostReleases
        if more > 0 { add(.text("\(more) more are not shown: \(command: "release list --bundle \(quoted)")")) }
        add(edits: Self.edits(of: app, newest: releases.first))
        return response(
            app.bundle, heading: "\(app.bundle) \(aside: app.name)\(Report.tag("paused", if: app.paused, .part))",
            in: "/apps"
        )
    }

    private static func table(of releases: [Release], at now: Timestamp) -> Table {
        let shown = releases.prefix(mostReleases)
        return Table(
            summary: releases.count > 5 ? "Show \(shown.count) releases" : nil,
            ifEmpty:
                "None is recorded, so there is no update that clients could be sent to. To add one: \(command: "release add --help")",
            Array(shown),
            columns: [
                Column("Version", isName: true) { .text($0.label) },
                Column("Platform") { .text(Platform($0.platform).displayName) },
                Column("State") { .sentence($0.stateInWords(at: now) { "\(timeAndDistance: $0)" }) },
                Column("For") { release in
                    let regions = release.regions.map { "in \($0.joined(separator: ", "))" }
                    return .text(
                        [release.minOS.map { "from system \($0) on" }, regions].compactMap(\.self)
                            .joined(separator: ", ")
                    )
                },
            ]
        )
    }

    /// That of the newest release is the platform that is meant most often.
    private static func edits(of app: App, newest: Release?) -> [Report.Edit] {
        let (quoted, literal) = (app.bundle.shellWord, app.bundle.sqlLiteral)
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
            recording(
                "Record a release", app.bundle, platform: newest?.platform ?? "PLATFORM", system: newest?.minOS ?? "OS"
            ),
        ]
    }

    /// The way to record a release.
    static func recording(_ what: String, _ bundle: String, platform: String, system: String) -> Report.Edit {
        Report.Edit(
            what,
            command:
                "release add \(bundle.shellWord) VERSION --platform \(platform.shellWord) --min-os \(system.shellWord) --live-at now",
            sql: "INSERT INTO releases (bundle, platform, version, min_os, live_at)"
                + " VALUES (\(bundle.sqlLiteral), \(platform.sqlLiteral), 'VERSION', \(system.sqlLiteral), now());"
        )
    }
}

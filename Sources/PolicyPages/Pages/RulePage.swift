import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `/rules/KEY`: the rule in words, whom it reaches, what was sent, its history.
struct RulePage: Page {
    struct Figures: Sendable {
        /// Nil where the counts cannot be read.
        let charts: [Chart]?
        /// Why they cannot.
        let countsFault: String?
        /// The note, which no server keeps in memory.
        let note: String?
        /// Nil where there is none, or where it cannot be read.
        let fuse: FuseStatus?
        /// Nil where it is no enabled lockout, or where it cannot be read.
        var share: LockoutShare?
        let statuses: RuleStatuses
        let history: HistoryPage.Figures
    }

    private static let mostChanges = 20
    private static let rowsPerChange = 20

    private let rule: Rule
    private let app: App?
    private let policy: Policy
    private let period: PagePeriod
    private let now: Timestamp

    init(_ key: String, _ period: PagePeriod, _ context: PageContext) throws(PageProblem) {
        (rule, app) = try context.rule(key)
        policy = context.policy(ofApp: rule.bundle)
        self.period = period
        now = context.now
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        let counts = RuleCounts(of: rule, in: policy, days: period.days, at: now, session)
        let charts = try CountReader(session).attempt { _ in try counts.charts.map { try $0.chart() } }
        return Figures(
            charts: try? charts.get(), countsFault: charts.failure?.message,
            note: try PolicyReader.note(ofRule: rule.key, session),
            fuse: rule.fuse == nil ? nil : try FuseStatus.all(session)?.first { $0.rule == rule.key },
            share: try CountReader(session).ifReadable { _ in try LockoutShare.all(session)[rule.key] } ?? nil,
            statuses: try RuleStatuses(of: [rule], in: policy, session),
            history: try HistoryPage.Figures(
                session, HistoryFilter(rule: rule.key, limit: Self.mostChanges), rowsPerChange: Self.rowsPerChange
            )
        )
    }

    func response(_ figures: Figures?, _ context: PageContext) -> Response {
        var context = context
        context.noteCounts(figures?.countsFault)
        context.noteStatuses(figures?.statuses.fault)
        let present = PresentRule(
            rule, figures?.statuses.byKey[rule.key], share: figures?.share, sendsLockouts: context.facts.sendsLockouts
        )
        var body = PageBody(context.notes)
        body.add(
            .text("\(Report.app(rule.bundle)). \("Who gets it? Try a client", .check(rule.bundle))")
        )
        body.add(.heading("In words", id: "words"))
        body.add(.fields(Report.fields(present, fuse: figures?.fuse, note: figures?.note, at: now)))
        body.add(.heading("Who it reaches", id: "figures"))
        body.add("charts", context.charts(figures?.charts, of: Subject.rule(rule.key).address, period))
        body.add(.heading("As a phone shows it", id: "texts"))
        body.add("phones", ["messages": messages])
        body.add(.heading("History", id: "changes"))
        body.add(
            history: figures?.history.changes, none: "The history has no entry of it.",
            hiddenFrom: figures?.history.hiddenFrom
        )
        if figures?.history.changes != nil { body.add(.text("\("Every change of it", .history(of: rule.key))")) }
        body.add(edits: edits)
        let tag: Sentence = figures?.statuses.byKey[rule.key] == nil ? "" : " \(present.tag)"
        return context.page(
            "Rule \(rule.key)", heading: "\(rule.key)\(tag)\(Report.tag("lockout", if: rule.lockout))",
            in: "/rules",
            body
        )
    }

    /// The message in all languages, filled in as for clients of the rule's app.
    private var messages: [JSONValue] {
        let name = app?.name ?? rule.bundle ?? "{app}"
        let own = RuleText(language: "", title: rule.title, text: rule.text)
        return ([own] + rule.texts).map { text in
            Message(
                id: rule.key, title: rule.filled(text.title, app: name), text: rule.filled(text.text, app: name),
                link: rule.link.flatMap { $0 == Rule.storeLink ? app?.storeLinks.first?.link : $0 },
                lockout: rule.lockout
            ).view(label: text.language.isEmpty ? "the rule's own" : text.language, language: text.language)
        }
    }

    private var edits: [Report.Edit] {
        let (key, literal) = (rule.key, rule.key.sqlLiteral)
        var edits: [Report.Edit] = []
        if rule.holdInForce(at: now) != nil {
            edits.append(
                Report.Edit(
                    "Let its steps go on", command: "rule resume \(key)", sql: "SELECT * FROM resume_rule(\(literal));"
                )
            )
        } else if rule.effectiveSteps.contains(where: { now < $0.at }) {
            edits.append(
                Report.Edit("Hold its steps", command: "rule hold \(key)", sql: "SELECT hold_rule(\(literal));")
            )
        }
        return edits + [
            Report.Edit(
                rule.enabled ? "Turn it off" : "Turn it on",
                command: "rule \(rule.enabled ? "disable" : "enable") \(key)",
                sql: "UPDATE rules SET enabled = \(!rule.enabled) WHERE key = \(literal);"
            ),
            Report.Edit(
                "Change the share of installs", command: "rule rollout \(key) PERCENT",
                sql: "BEGIN; DELETE FROM rollout_steps WHERE rule = \(literal);"
                    + " UPDATE rules SET rollout = PERCENT, held_at = NULL WHERE key = \(literal); COMMIT;"
            ),
            Report.Edit(
                "Change anything else", command: "rule edit \(key) --COLUMN VALUE",
                sql: "UPDATE rules SET COLUMN = VALUE WHERE key = \(literal);"
            ),
        ]
    }
}

extension Message {
    /// The message as a phone would show it, for the template `message`.
    ///
    /// - Parameters:
    ///   - label: What stands above it: `the rule's own`, `de`.
    ///   - language: The language, for screen readers; empty: not known.
    func view(label: String = "", language: String) -> JSONValue {
        // A browser follows no schemes of phones.
        let scheme = link.map { $0.prefix { $0 != ":" }.lowercased() }
        return [
            "id": id, "ruleAddress": Subject.rule(id).address, "language": language, "label": label, "title": title,
            "text": text, "link": link, "address": scheme == "https" || scheme == "http" ? link : nil,
            "lockout": lockout, "hints": hints?.sentence,
        ]
    }
}

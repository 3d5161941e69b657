import PolicyStore
import Postgres
import UpdatePolicy

/// `/rules/KEY`: the rule in words, whom it reaches, what was sent, how it came to be.
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

    init(_ key: String, _ period: PagePeriod, _ scene: PageScene) throws(PageProblem) {
        (rule, app) = try scene.rule(key)
        policy = scene.policy(ofApp: rule.bundle)
        self.period = period
        now = scene.now
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        let counts = RuleCounts(of: rule, in: policy, days: period.days, at: now, session)
        let charts = try CountReader(session).attempt { _ in try counts.charts.map { try $0.chart() } }
        return Figures(
            charts: try? charts.get(),
            countsFault: charts.failure?.message,
            note: try PolicyReader.note(ofRule: rule.key, session),
            fuse: rule.fuse == nil ? nil : try FuseStatus.all(session)?.first { $0.rule == rule.key },
            share: try CountReader(session).ifReadable { _ in try LockoutShare.all(session)[rule.key] } ?? nil,
            statuses: try RuleStatuses(of: [rule], in: policy, session),
            history: try HistoryPage.Figures(
                session, HistoryFilter(rule: rule.key, limit: Self.mostChanges), rowsPerChange: Self.rowsPerChange
            )
        )
    }

    func response(_ figures: Figures?, _ scene: PageScene) -> PageResponse {
        var scene = scene
        scene.note(countsFault: figures?.countsFault)
        scene.note(statusFault: figures?.statuses.fault)
        let status = figures?.statuses.byKey[rule.key]
        let words = RuleWords(
            rule: rule, status: status, now: now, lockoutShare: figures?.share,
            sendsLockouts: scene.facts.sendsLockouts, fuse: figures?.fuse
        )
        let history = figures?.history
        let view: JSONValue = [
            "frame": scene.frame("Rule \(rule.key)", in: .overview), "key": rule.key, "app": rule.bundle ?? "every app",
            "appAddress": rule.bundle.map { PageRoute.app($0).path }, "status": words.tag, "lockout": rule.lockout,
            "lines": words.lines, "note": figures?.note, "period": period.choices(.rule(rule.key)),
            "charts": figures?.charts?.map { $0.view(of: .rule(rule.key), period) }, "isWhole": figures?.charts != nil,
            "texts": texts,
            "history": scene.history(
                history?.changes, none: "The history has no entry of it.",
                hiddenFrom: history?.changes == nil ? history?.role : nil
            ),
            "historyAddress": HistoryPage.address(ofRule: rule.key),
            "tryAddress": rule.bundle.map { TryPage.address(ofApp: $0) } ?? PageRoute.attempt.path, "edits": edits,
        ]
        return PageTemplates.all.page("rule", view)
    }

    /// The message in all languages, filled in as for clients of the rule's app.
    private var texts: [JSONValue] {
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

    private var edits: [JSONValue] {
        let (key, literal) = (rule.key, rule.key.sqlLiteral)
        var edits: [JSONValue] = []
        if rule.holdInForce(at: now) != nil {
            edits.append(
                PageScene.edit(
                    "Let its steps go on", "rule resume \(key)", sql: "SELECT * FROM resume_rule(\(literal));"
                )
            )
        } else if rule.effectiveSteps.contains(where: { now < $0.at }) {
            edits.append(PageScene.edit("Hold its steps", "rule hold \(key)", sql: "SELECT hold_rule(\(literal));"))
        }
        return edits + [
            PageScene.edit(
                rule.enabled ? "Turn it off" : "Turn it on", "rule \(rule.enabled ? "disable" : "enable") \(key)",
                sql: "UPDATE rules SET enabled = \(!rule.enabled) WHERE key = \(literal);"
            ),
            PageScene.edit(
                "Change the share of installs",
                "rule rollout \(key) PERCENT",
                sql: "BEGIN; DELETE FROM rollout_steps WHERE rule = \(literal);"
                    + " UPDATE rules SET rollout = PERCENT, held_at = NULL WHERE key = \(literal); COMMIT;"
            ),
            PageScene.edit(
                "Change anything else", "rule edit \(key) --COLUMN VALUE",
                sql: "UPDATE rules SET COLUMN = VALUE WHERE key = \(literal);"
            ),
        ]
    }
}

extension Result {
    /// Why there is no value; nil: there is one.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

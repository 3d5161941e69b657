// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// `/rules/KEY`: the rule in words, whom it reaches, what was sent, how it came to be.
struct RulePage {
    /// What is read from the database.
    struct Figures: Sendable {
        /// Nil where the counts cannot be read.
        let charts: [Chart]?
        /// Why they cannot.
        let countsFault: String?
        let note: String?
        let role: String
        /// Nil: the role may not read it.
        let changes: [PolicyChange]?
    }

    private struct View {
        let frame: PageScene.Frame
        let key: String
        let app: String
        let appAddress: String
        let status: StatusTag
        let lockout: Bool
        let lines: [RuleWords.Line]
        let note: String
        let days: [DaysView]
        let charts: [ChartView]
        let isWhole: Bool
        let texts: [MessageView]
        let changes: [ChangeView]
        let showsChanges: Bool
        let hidden: [PageScene.Notice]
        let hasChanges: Bool
        let historyAddress: String
        let tryAddress: String
        let edits: [EditView]
    }

    static let mostChanges = 20

    private let rule: Rule
    private let app: App?
    private let status: RuleStatus
    private let days: Int
    private let figures: Figures?
    private let scene: PageScene

    init(_ key: String, _ days: Int, _ figures: Figures?, _ scene: PageScene) throws(PageProblem) {
        let section = try Self.section(key, scene)
        rule = section.rule
        app = section.app
        status = try Self.status(section.rule, scene)
        self.days = days
        self.figures = figures
        var scene = scene
        scene.note(countsFault: figures?.countsFault)
        self.scene = scene
    }

    static func rule(_ key: String, _ scene: PageScene) throws(PageProblem) -> Rule { try section(key, scene).rule }

    private static func section(_ key: String, _ scene: PageScene) throws(PageProblem) -> (rule: Rule, app: App?) {
        let sections = scene.facts.policy?.sections ?? []
        for section in sections {
            if let rule = section.rules.first(where: { UTF8Text($0.key) == UTF8Text(key) }) {
                return (rule, section.app)
            }
        }
        let similar = SimilarNames.of(key, among: sections.flatMap { $0.rules.map(\.key) }).first
        throw PageProblem(
            404,
            "There is no such rule",
            "The policy of this server has no rule \(key).\(similar.map { " Did you mean \($0)?" } ?? "")"
                + " What became of it: \(PrintedCommand("history \(key.shellWord)"))"
        )
    }

    private static func status(_ rule: Rule, _ scene: PageScene) throws(PageProblem) -> RuleStatus {
        let policy = scene.policy(ofApp: rule.bundle)
        guard let status = policy.ruleStatuses(at: scene.now, of: [rule])[rule.key] else {
            throw PageProblem(500, "This page cannot be made", "The status of \(rule.key) is not known.")
        }
        return status
    }

    var response: PageResponse {
        let key = rule.key
        let literal = key.sqlLiteral
        let view = View(
            frame: scene.frame("Rule \(key)", section: "/"),
            key: key,
            app: rule.bundle ?? "every app",
            appAddress: rule.bundle.map(Address.app) ?? "",
            status: StatusTag(status, of: rule),
            lockout: rule.lockout,
            lines: RuleWords(rule: rule, status: status, now: scene.now).lines,
            note: figures?.note ?? "",
            days: DaysView.all(Address.rule(key), current: days),
            charts: figures?.charts?.map { $0.view(Address.rule(key), days) } ?? [],
            isWhole: figures?.charts != nil,
            texts: texts,
            changes: figures?.changes?.map { ChangeView($0, scene) } ?? [],
            showsChanges: figures?.changes != nil,
            hidden: figures.map { $0.changes == nil ? [PageScene.forbidden("the history", role: $0.role)] : [] } ?? [],
            hasChanges: figures?.changes?.isEmpty == false,
            historyAddress: "/history?rule=\(Address.encoded(key))",
            tryAddress: rule.bundle.map { "/try?bundle=\(Address.encoded($0))" } ?? "/try",
            edits: [
                rule.enabled
                    ? EditView(
                        what: "Turn it off",
                        command: PrintedCommand.text("rule disable \(key)"),
                        sql: "UPDATE rules SET enabled = false WHERE key = \(literal);"
                    )
                    : EditView(
                        what: "Turn it on",
                        command: PrintedCommand.text("rule enable \(key)"),
                        sql: "UPDATE rules SET enabled = true WHERE key = \(literal);"
                    ),
                EditView(
                    what: "Change the share of installs",
                    command: PrintedCommand.text("rule rollout \(key) PERCENT"),
                    sql:
                        "DELETE FROM rollout_steps WHERE rule = \(literal); UPDATE rules SET rollout = PERCENT WHERE key = \(literal);"
                ),
                EditView(
                    what: "Change anything else",
                    command: PrintedCommand.text("rule edit \(key) --COLUMN VALUE"),
                    sql: "UPDATE rules SET COLUMN = VALUE WHERE key = \(literal);"
                ),
            ]
        )
        return PageTemplates.all.page("rule", view)
    }

    /// The message in all languages, filled in as for clients of the rule's app.
    private var texts: [MessageView] {
        let name = app?.name ?? rule.bundle ?? "{app}"
        func view(_ title: String, _ text: String, _ label: String, _ language: String) -> MessageView {
            MessageView(
                Message(
                    id: rule.key,
                    title: rule.filled(title, app: name),
                    text: rule.filled(text, app: name),
                    link: rule.link.flatMap { $0 == MessageLink.store ? app?.storeLinks.first?.link : $0 },
                    lockout: rule.lockout
                ),
                label: label,
                language: language
            )
        }
        return [view(rule.title, rule.text, "the rule's own", "")]
            + rule.texts.map { view($0.title, $0.text, $0.language, $0.language) }
    }
}

extension RulePage.Figures {
    init(_ key: String, _ days: Int, at time: Timestamp, _ session: PostgresSession) throws {
        switch try CountReader(session).attempt({ _ in
            try RuleFigures(key: key, days: days, at: time, session).charts
        }) {
        case .success(let charts): (self.charts, countsFault) = (charts, nil)
        case .failure(let error): (charts, countsFault) = (nil, error.message)
        }
        let fields = try PolicyReports(session).rule(key)?.fields ?? []
        note = fields.first { $0.name == "note" }?.value
        role = try session.query("SELECT session_user::text").value(as: String.self)
        changes =
            try DatabaseStatus.Hidden.history.isHidden(session)
            ? nil
            : try PolicyHistory(session, rowsPerChange: 20).changes(
                HistoryFilter(rule: key, limit: RulePage.mostChanges)
            )
    }
}

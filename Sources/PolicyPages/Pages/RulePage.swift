import Hummingbird
import PolicyStore
import Reports
import UpdatePolicy

extension Page {
    /// `/rules/KEY`: the rule in words, whom it reaches, what was sent, its history.
    mutating func rule() throws -> Response {
        let days = try question.days()
        let (rule, app) = try namedRule()
        let (policy, now) = (policy(ofApp: rule.bundle), now)
        let charts = try counts { session in
            try RuleCounts(of: rule, in: policy, days: days, at: now, session).charts.map { try $0.chart() }
        }
        let (note, fuse, share) =
            try session.map { session in
                (
                    try PolicyReader.note(ofRule: rule.key, session),
                    rule.fuse == nil ? nil : try FuseStatus.all(session)?.first { $0.rule == rule.key },
                    try CountReader(session).ifReadable { _ in try LockoutShare.all(session)[rule.key] } ?? nil
                )
            } ?? (nil, nil, nil)
        let statuses = try statuses(of: [rule], in: policy)
        let present = present(rule, statuses, share: share)
        if let session = try session {
            let servers = try ServerSession.all(session)
            let lockouts = EnabledLockout.all(in: policy, share.map { [rule.key: $0] }, statuses, at: now)
            opening = Report.inForce(lockouts.filter { $0.rule.key == rule.key }, isBraked: isBraked(servers))
        }
        add(
            .text("\(Report.app(rule.bundle)). \("Who gets it? Try a client", .check(rule.bundle))"),
            .heading("In words", id: "words"), .fields(Report.fields(present, fuse: fuse, note: note, at: now)),
            .heading("Who it reaches", id: "figures")
        )
        add("charts", Self.charts(charts, of: Subject.rule(rule.key).address, days: days))
        add(.heading("As a phone shows it", id: "texts"))
        add("phones", ["messages": Self.messages(of: rule, app)])
        add(.heading("History", id: "changes"))
        let filter = HistoryFilter(rule: rule.key, limit: 21)
        let changes = try addChanges(filter, rowsPerChange: 20, none: "The history has no entry of it.")
        if changes != nil { add(.text("\("Every change of it", .history(of: rule.key))")) }
        add(edits: edits(of: rule))
        let tag: Sentence = statuses[rule.key] == nil ? "" : " \(present.tag)"
        return response(
            "Rule \(rule.key)", heading: "\(rule.key)\(tag)\(Report.tag("lockout", if: rule.lockout))", in: "/rules"
        )
    }

    /// The message in all languages, filled in as for clients of the rule's app.
    private static func messages(of rule: Rule, _ app: App?) -> [JSONValue] {
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

    private func edits(of rule: Rule) -> [Report.Edit] {
        let (key, literal) = (rule.key, rule.key.sqlLiteral)
        var edits: [Report.Edit] = []
        if rule.holdInForce(at: now) != nil {
            let sql = "SELECT * FROM resume_rule(\(literal));"
            edits.append(Report.Edit("Resume its steps", command: "rule resume \(key)", sql: sql))
        } else if rule.effectiveSteps.contains(where: { now < $0.at }) {
            let sql = "SELECT hold_rule(\(literal));"
            edits.append(Report.Edit("Hold its steps", command: "rule hold \(key)", sql: sql))
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
    /// The message as a phone would show it, below a label: `the rule's own`, `de`.
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

package import PolicyStore
package import UpdatePolicy

extension Report {
    /// Rules, each as it was written, with what is so about it.
    package static func rules(
        _ rules: [(rule: Rule, status: RuleStatus)],
        at now: Timestamp,
        ifEmpty empty: Sentence
    ) -> Report {
        let columns: [Column<(rule: Rule, status: RuleStatus)>] = [
            Column("Key", isName: true) { .link($0.rule.key, .rule($0.rule.key)) },
            Column("Status") { .sentence(PresentRule($0.rule, $0.status).tag) },
            Column("Lockout", silent: "no") { rule, _ in
                rule.lockout ? .tag(rule.lockoutWithoutUpdate ? "always" : "yes", .plain) : .tag("no", .off)
            },
            Column("Rollout", silent: "100 %") { rule, _ in
                .text("\(rule.rollout(at: now)) %\(rule.holdInForce(at: now) == nil ? "" : ", held")")
            },
            Column("App") { .text($0.rule.bundle ?? "every app") },
            Column("Who") { .text($0.rule.audience) },
            Column("Hints") { .text($0.rule.hintsInWords) },
            Column("Title") { .text($0.rule.title) },
        ]
        let others: [Column<(rule: Rule, status: RuleStatus)>] = [
            Column(nil, json: "texts") { .data($0.rule.texts.map { $0.json() }) },
            Column(nil, json: "rollout_steps") { .data($0.rule.steps.map { $0.json() }) },
        ]
        return Report(at: now, Table(ifEmpty: empty, rules, columns: columns + Column.columns(of: \.rule) + others))
    }

    /// A rule with its texts and its planned steps.
    ///
    /// - Parameter brake: Which servers send its lockout as a plain message; nil: none.
    package static func rule(
        _ rule: Rule,
        _ status: RuleStatus,
        fuse: FuseStatus?,
        brake: String?,
        at now: Timestamp
    ) -> Report {
        let reason: Sentence = status.reason.map { ": \($0)" } ?? ""
        let facts = [
            Field("status", .sentence("\(PresentRule(rule, status).tag)\(reason)")),
            Field("brake", .text(brake)), Field("next", .time(status.next)), Field("who", .text(rule.audience)),
        ]
        let columns = rule.fields.map { field in
            field.json.flatMap { words(of: $0, rule, fuse, now) }.map { sentence in
                Field(field.title, json: field.json, .sentence(sentence, json: field.cell.json))
            } ?? field
        }
        let texts = Field(
            "texts", json: "texts",
            .lines(rule.texts.map { "\($0.language)  \($0.title)  \($0.text)" }, json: rule.texts.map { $0.json() })
        )
        let steps = Field(nil, json: "rollout_steps", .data(rule.steps.map { $0.json() }))
        return Report(
            at: now,
            [.fields(facts + columns + [texts, steps])] + (rule.steps.isEmpty ? [] : [.table(ramp(rule, now))])
        )
    }

    /// What is said of a column instead of its value.
    private static func words(of column: String, _ rule: Rule, _ fuse: FuseStatus?, _ now: Timestamp) -> Sentence? {
        switch column {
        case Rule.column(\.fuse).name: return fuse.map { "\($0.fuse) %. \($0.sentence)" }
        case Rule.column(\.rollout).name where !rule.steps.isEmpty:
            let plan = rule.holdInForce(at: now) == nil ? "then as planned below" : "its steps are held"
            return "\(rule.rollout(at: now)) % now, \(plan)"
        default: return nil
        }
    }

    private static func ramp(_ rule: Rule, _ now: Timestamp) -> Table {
        let current = rule.effectiveSteps.last { $0.at <= now }
        return Table(
            "Planned rollout", ifEmpty: "", rule.steps,
            columns: [
                Column("From", isName: true) { .sentence("\(time: $0.at)") },
                Column("Rollout") { .percentage($0.rollout) },
                Column("") { .text($0 == current ? "now" : rule.effectiveSteps.contains($0) ? nil : "held") },
                Column("") { .bar(Double($0.rollout.hundredths) / 10_000) },
            ]
        )
    }
}

extension Rule {
    /// How its message may be put off: `remind 1 day, skippable`.
    fileprivate var hintsInWords: String {
        [remind.map { "remind \($0)" }, shows.map { "shows \($0)" }, skippable ? "skippable" : nil]
            .compactMap(\.self).joined(separator: ", ")
    }
}

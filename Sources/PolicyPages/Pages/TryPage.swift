import Hummingbird
import PolicyStore
import Reports
import UpdatePolicy

extension Page {
    private static let mostVerdicts = 200

    private static let checkInputs = [
        ("bundle", "Bundle", "com.example.doto", "apps"), ("version", "Version", "1.2.3", ""),
        ("build", "Build", "456", ""), ("platform", "Platform", "ios", "platforms"),
        ("region", "Region", "JP or ja_JP", ""), ("os", "System version", "18.1", ""),
        ("language", "Language", "de-CH", ""), ("at", "Time, in UTC", "now", ""),
        ("as-of", "As of, policy and time, in UTC", "now", ""), ("revision", "Revision", "the one that answers", ""),
    ]

    /// `/try`: what a client gets, and why.
    mutating func triedCheck() throws -> Response {
        let form = try CheckForm(question)
        let time = form.time(now: now)
        let isOfPast = form.asksPast(present: facts.policy?.revision, at: time)
        let policy = isOfPast ? try session.map { try form.policy($0, at: time) } : facts.policy
        let isMissing = isOfPast && policy == nil
        add(checkForm: form)
        var (client, fault, refusal): (Client?, String?, String?) = (nil, nil, nil)
        if isMissing {
            let what = form.revision.map { "Revision \($0)" } ?? "The policy of \(form.time)"
            fault = "\(what) cannot be read; the notice above says why."
        } else if form.bundle != nil, policy != nil {
            do throws(ClientError) {
                client = try form.client()
                let cure = "write it as 2026-11-22T14:05Z or 2026-11-22T15:05+01:00."
                refusal = time == nil ? "The time \"\(form.time)\" cannot be read; \(cure)" : nil
            } catch {
                refusal = "This check would be refused with 400: \(error)"
            }
        }
        if let fault = fault ?? refusal { add(.note(Report.Note(.fault, Sentence(fault)))) }
        var hints: [String] = []
        if form.hadInstall {
            hints.append(
                "The address has an install id, which belongs in no address: it is left out. A rollout below 100 % shows which part of the installs it reaches."
            )
        }
        if let client, let policy, let time {
            hints += Self.remarks(client, policy, isPast: form.isOfPast)
            if time < now, !form.isOfPast {
                hints.append(
                    "This is the answer of today's policy at that time. For the policy as it was then, write the time into the field \"As of\"."
                )
            }
        }
        add(hints.map { .hint(Sentence($0)) })
        if let client, let policy, let time { addAnswer(to: client, by: policy, at: time) }
        if form.bundle != nil {
            add(.heading("Ask the same elsewhere", id: "elsewhere"), .edits([form.sameQuestion(at: time)]))
        }
        return response("Try a check", in: "/try", refreshes: false, status: refusal == nil ? .ok : .badRequest)
    }

    private mutating func add(checkForm form: CheckForm) {
        let sections = facts.policy?.sections ?? []
        let platforms = Set(sections.flatMap { $0.releases.map(\.platform) }).sorted()
        let lists = [("apps", sections.compactMap { $0.app?.bundle }), ("platforms", platforms)]
        add(
            form: "/try", "Ask",
            "The address of the answer holds the question: paste it into a ticket. It has no install id; a rule below 100 % says which part of the installs it reaches.",
            id: "asked-", Self.checkInputs, required: "bundle",
            box: [
                "name": ClientField.manual.name, "label": "The person asked for this check",
                "isChecked": question.members[ClientField.manual.name] == "true",
            ],
            lines: [
                "name": "attributes", "label": "Other fields that the app sends, a line each", "hint": "channel=beta",
                "value": form.attributes,
            ],
            lists: lists.map { id, names in ["id": id, "options": Array(names.prefix(500))] }
        )
    }

    private static func remarks(_ client: Client, _ policy: CompiledPolicy, isPast: Bool) -> [String] {
        let section = policy.section(ofApp: client.bundle?.string ?? "")
        let general = policy.sections.last { $0.app == nil && $0.rules.first?.bundle == nil }
        let rows = Policy(
            revision: policy.revision, token: policy.token,
            apps: section?.app.map { [$0] } ?? policy.sections.compactMap(\.app), releases: section?.releases ?? [],
            rules: (section?.rules ?? []) + (general?.rules ?? [])
        )
        return CheckRemarks(client, in: rows, isPast: isPast, command: PrintedCommand.text).warnings
    }

    private mutating func addAnswer(to client: Client, by policy: CompiledPolicy, at time: Timestamp) {
        let messages = policy.messages(for: client, at: time)
        let brake = policy.sendsLockouts ? "" : "This server is under its brake and sends no lockout: "
        let headline =
            switch messages.count {
            case 0: "\(brake)No message."
            case _ where messages.contains(where: \.lockout): "Locked out."
            case 1: "\(brake)1 message, no lockout."
            case let count: "\(brake)\(count) messages, no lockout."
            }
        add(
            .heading(headline, id: "answer"),
            .text("At \(timeAndDistance: time), by revision \(policy.revision).")
        )
        add("phones", ["messages": messages.map { $0.view(language: question.members["language"] ?? "") }])
        add(.heading("The answer, as the app gets it", id: "answer-json"))
        add("json", String(decoding: policy.answer(to: client, at: time).body, as: UTF8.self).jsonValue)
        let explanations = Explanation.decidingFirst(policy.explain(client, at: time))
        add(
            .text("Give it to VersionGate.preview to see it inside the app, without a server."),
            .heading("Why, rule by rule", id: "why"),
            .table(
                Table(
                    ifEmpty: "No rule is for this app.", Array(explanations.prefix(Self.mostVerdicts)),
                    columns: Self.columns(client, policy)
                )
            )
        )
        let more = explanations.count - Self.mostVerdicts
        if more > 0 { add(.text("\(more) more rules are not sent; the command below names all.")) }
    }

    /// Why each rule is sent or not.
    private static func columns(_ client: Client, _ policy: CompiledPolicy) -> [Column<Explanation>] {
        let section = policy.section(ofApp: client.bundle?.string ?? "")
        let isPaused = section?.app?.paused ?? false
        let sections = policy.sections.filter { $0.app?.bundle == section?.app?.bundle }
        let off = Set(sections.flatMap(\.rules).filter { !$0.enabled }.map(\.key))
        @Sendable func isForPart(_ explanation: Explanation) -> Bool {
            explanation.outcome == .noMatch && explanation.condition == "rollout" && explanation.rollout != .zero
                && !isPaused && !off.contains(explanation.key)
        }
        @Sendable func isBraked(_ explanation: Explanation) -> Bool {
            explanation.outcome == .sent && explanation.lockout && !policy.sendsLockouts
        }
        return [
            Column("Rule", isName: true) { .link($0.key, .rule($0.key)) },
            Column("Outcome") { explanation in
                switch explanation.outcome {
                case .sent where isBraked(explanation): .tag("brake: sent without lockout", .part)
                case .sent: explanation.lockout ? .tag("sent, locks out", .alert) : .tag("sent", .good)
                case .sentWithoutLockout: .tag("sent without lockout", .good)
                case .noMatch where isForPart(explanation): .tag("part of the installs", .part)
                case .afterAFinalRule, .noMatch: .tag("not sent", .off)
                }
            },
            Column("Why") { explanation in
                if isForPart(explanation) {
                    return .text(
                        "\(explanation.key) is sent to \(explanation.rollout) % of the installs; the install id decides which, and this address has none."
                    )
                }
                let brake = "Under the brake this server sends it as a plain message, without the lockout."
                return .text(
                    [
                        explanation.sentence(for: client) { NumberText.minute($0) }, explanation.match,
                        isBraked(explanation) ? brake : nil,
                    ].compactMap(\.self).joined(separator: " ")
                )
            },
            Column("Decided by") { .text($0.condition) },
            Column("Asked for") { .text($0.condition == nil ? nil : $0.expected) },
            Column("Actual") { .text($0.condition == nil ? nil : $0.actual ?? "not sent") },
        ]
    }
}

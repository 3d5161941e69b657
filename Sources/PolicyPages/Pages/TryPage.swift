import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `/try`: what a client gets, and why.
struct TryPage: Page {
    private static let mostVerdicts = 200

    private let form: CheckForm
    /// The policy of another time or revision that is asked; nil: that in memory is.
    private let past: CheckForm.Past?
    private let now: Timestamp

    init(_ form: CheckForm, _ context: PageContext) {
        self.form = form
        past = form.past(now: context.now, present: context.facts.policy?.revision)
        now = context.now
    }

    var hasFigures: Bool { past != nil }

    func figures(_ session: PostgresSession) throws -> CompiledPolicy? { try past?.policy(session) }

    func response(_ figures: CompiledPolicy??, _ context: PageContext) -> Response {
        let isMissing = past != nil && figures == nil
        let policy = past == nil ? context.facts.policy : figures ?? nil
        var (fault, hints): (String?, [String]) = (nil, [])
        if form.hadInstall {
            hints.append(
                "The address has an install id, which belongs in no address: it is left out. A rollout below 100 %"
                    + " shows which part of the installs it reaches."
            )
        }
        var answer: Answer?
        if isMissing {
            let what = form.revision.map { "Revision \($0)" } ?? "The policy of \(form.timeText)"
            fault = "\(what) cannot be read; the notice above says why."
        } else if form.bundle != nil, let policy {
            do throws(ClientError) {
                let client = try form.client()
                if let time = form.time(now: now) {
                    answer = Answer(client, policy, time)
                    hints += remarks(client, policy)
                    if time < now, !form.isOfPast {
                        hints.append(
                            "Today's policy answers, with the clock of then. For the policy of then write the time"
                                + " into the field \"As of\"."
                        )
                    }
                } else {
                    fault =
                        "The time \"\(form.timeText)\" cannot be read; write it as 2026-11-22T14:05Z or 2026-11-22T15:05+01:00."
                }
            } catch {
                fault = "This check would be refused with 400: \(error)"
            }
        }
        var body = PageBody(context.notes)
        body.add("form", inputs(context.facts))
        if let fault { body.add(.note(Report.Note(.fault, Sentence(fault)))) }
        body.add(hints.map { .note(Report.Note(.hint, Sentence($0))) })
        if let answer { show(answer, in: &body) }
        if form.bundle != nil {
            body.add(.heading("Ask the same elsewhere", id: "elsewhere"))
            body.add(.edits([sameQuestion]))
        }
        return context.page(
            "Try a check", in: "/try", refreshes: false, status: fault == nil || isMissing ? .ok : .badRequest, body
        )
    }

    /// The fields of the form, each with its label, an example and the list that proposes values.
    private static let inputs = [
        ("bundle", "Bundle", "com.example.doto", "apps"), ("version", "Version", "1.2.3", ""),
        ("build", "Build", "456", ""), ("platform", "Platform", "ios", "platforms"),
        ("region", "Region", "JP or ja_JP", ""), ("os", "System version", "18.1", ""),
        ("language", "Language", "de-CH", ""), ("at", "Time, in UTC", "now", ""),
        ("as-of", "As of, policy and time, in UTC", "now", ""), ("revision", "Revision", "the one that answers", ""),
    ]

    private func inputs(_ facts: ServerFacts) -> JSONValue {
        let sections = facts.policy?.sections ?? []
        let platforms = Set(sections.flatMap { $0.releases.map(\.platform) }).sorted()
        let lists = [("apps", sections.compactMap { $0.app?.bundle }), ("platforms", platforms)]
        return [
            "action": "/try", "button": "Ask",
            "inputs": Self.inputs.map { name, label, hint, list -> JSONValue in
                [
                    "id": "asked-\(name)", "name": name, "label": label, "hint": hint, "list": list,
                    "value": form.members[name], "isRequired": name == "bundle",
                ]
            },
            "explanation":
                "The address of the answer holds the question: paste it into a ticket. It has no install id; a rule below 100 % says which part of the installs it reaches.",
            "lines": [
                "name": "attributes", "label": "Other fields that the app sends, a line each", "hint": "channel=beta",
                "value": form.attributes,
            ] as JSONValue,
            "lists": lists.map { id, names in ["id": id, "options": Array(names.prefix(500))] as JSONValue },
        ]
    }

    private func remarks(_ client: Client, _ policy: CompiledPolicy) -> [String] {
        let section = policy.section(ofApp: client.bundle?.string ?? "")
        let general = policy.sections.last { $0.app == nil && $0.rules.first?.bundle == nil }
        let rows = Policy(
            revision: policy.revision, token: policy.token,
            apps: section?.app.map { [$0] } ?? policy.sections.compactMap(\.app), releases: section?.releases ?? [],
            rules: (section?.rules ?? []) + (general?.rules ?? [])
        )
        return CheckRemarks(client, in: rows, isPast: form.isOfPast, command: PrintedCommand.text).warnings
    }

    /// The same question on the command line and in SQL.
    private var sameQuestion: Report.Edit {
        let members = form.fields.filter { !$0.value.isEmpty }.map { ($0.field.name, $0.value) } + form.lines
        // As the page has read it: without an offset, a command takes a time for one of its own zone.
        let readTime = form.time(now: now)
        let time = form.timeText.isEmpty ? nil : readTime.map { "\($0)" } ?? form.timeText
        let option = form.asOf.isEmpty ? "--at" : "--as-of"
        let options = [time.map { "\(option) \($0.shellWord)" }, form.revision.map { "--revision \($0)" }]
            .compactMap(\.self)
        let words = ["check --explain"] + options + members.map { "\($0.0)=\($0.1)".shellWord }
        let object = members.map { "\(JSONString.literal($0.0)): \(JSONString.literal($0.1))" }.joined(separator: ", ")
        let arguments = ["{\(object)}", time].compactMap { $0?.sqlLiteral }
        return Report.Edit(
            "Ask the same", command: words.joined(separator: " "),
            // The database has the present policy alone, and may refuse a time that the page cannot read.
            sql: form.isOfPast || readTime == nil
                ? nil : "SELECT * FROM explain_check(\(arguments.joined(separator: ", ")));"
        )
    }

    // MARK: - The answer

    /// A check that was answered.
    private struct Answer {
        let client: Client
        let policy: CompiledPolicy
        let time: Timestamp
        let messages: [Message]

        init(_ client: Client, _ policy: CompiledPolicy, _ time: Timestamp) {
            self.client = client
            self.policy = policy
            self.time = time
            messages = policy.messages(for: client, at: time)
        }

        var headline: String {
            if messages.contains(where: \.lockout) { return "Locked out." }
            let brake = policy.sendsLockouts ? "" : "This server is under its brake and sends no lockout: "
            return switch messages.count {
            case 0: "\(brake)No message."
            case 1: "\(brake)1 message, no lockout."
            default: "\(brake)\(messages.count) messages, no lockout."
            }
        }
    }

    private func show(_ answer: Answer, in body: inout PageBody) {
        body.add(.heading(answer.headline, id: "answer"))
        body.add(.text("At \(timeAndDistance: answer.time), by revision \(answer.policy.revision)."))
        body.add("phones", ["messages": answer.messages.map { $0.view(language: form.value(.language)) }])
        body.add(.heading("The answer, as the app gets it", id: "answer-json"))
        body.add(
            "json",
            String(decoding: answer.policy.answer(to: answer.client, at: answer.time).body, as: UTF8.self).jsonValue)
        body.add(.text("Give it to VersionGate.preview to see it inside the app, without a server."))
        body.add(.heading("Why, rule by rule", id: "why"))
        let verdicts = verdicts(answer)
        body.add(
            .table(
                Table(
                    ifEmpty: "No rule is for this app.", Array(verdicts.prefix(Self.mostVerdicts)),
                    columns: [
                        Column("Rule", isName: true) { .link($0.explanation.key, .rule($0.explanation.key)) },
                        Column("Outcome") { .tag($0.outcome, $0.tone) }, Column("Why") { .text($0.sentence) },
                        Column("Decided by") { .text($0.explanation.condition) },
                        Column("Asked for") { .text($0.explanation.condition == nil ? nil : $0.explanation.expected) },
                        Column("Was there") {
                            .text($0.explanation.condition == nil ? nil : $0.explanation.actual ?? "not sent")
                        },
                    ]
                )
            )
        )
        if verdicts.count > Self.mostVerdicts {
            body.add(
                .text("\(verdicts.count - Self.mostVerdicts) more rules are not sent; the command below names all."))
        }
    }

    private struct Verdict {
        let explanation: Explanation
        let outcome: String
        let tone: Tone
        let sentence: String
    }

    /// Why each rule is sent or not.
    private func verdicts(_ answer: Answer) -> [Verdict] {
        let section = answer.policy.section(ofApp: answer.client.bundle?.string ?? "")
        let isPaused = section?.app?.paused ?? false
        let sections = answer.policy.sections.filter { $0.app?.bundle == section?.app?.bundle }
        let off = Set(sections.flatMap(\.rules).filter { !$0.enabled }.map(\.key))
        let isBraked = !answer.policy.sendsLockouts
        return Explanation.decidingFirst(answer.policy.explain(answer.client, at: answer.time)).map { explanation in
            let isForPart =
                explanation.condition == "rollout" && explanation.rollout != .zero && !isPaused
                && !off.contains(explanation.key)
            let (outcome, tone): (String, Tone) =
                switch explanation.outcome {
                case .sent where explanation.lockout && isBraked: ("brake: sent without lockout", .part)
                case .sent: explanation.lockout ? ("sent, locks out", .alert) : ("sent", .good)
                case .sentWithoutLockout: ("sent without lockout", .good)
                case .afterAFinalRule: ("not sent", .off)
                case .noMatch: isForPart ? ("part of the installs", .part) : ("not sent", .off)
                }
            let sentence =
                isForPart
                ? "\(explanation.key) is sent to \(explanation.rollout) % of the installs; the install id decides which, and this address has none."
                : [explanation.sentence(for: answer.client) { NumberText.minute($0) }, explanation.match]
                    .compactMap(\.self).joined(separator: " ")
                    + (isBraked && explanation.lockout && explanation.outcome == .sent
                        ? " Under the brake this server sends it as a plain message, without the lockout." : "")
            return Verdict(explanation: explanation, outcome: outcome, tone: tone, sentence: sentence)
        }
    }
}

import PolicyStore
import Postgres
import UpdatePolicy

/// `/try`: what a client gets, and why.
struct TryPage: Page {
    private static let mostVerdicts = 200

    private let question: TryQuestion
    /// The policy of another time or revision that is asked; nil: that in memory is.
    private let past: TryQuestion.Past?
    private let now: Timestamp

    init(_ question: TryQuestion, _ scene: PageScene) {
        self.question = question
        past = question.past(now: scene.now, present: scene.facts.policy?.revision)
        now = scene.now
    }

    /// The address of the page with an app filled in.
    static func address(ofApp bundle: String) -> String {
        "\(PageRoute.attempt.path)?\(ClientField.bundle.name)=\(bundle.percentEncoded)"
    }

    var hasFigures: Bool { past != nil }

    func figures(_ session: PostgresSession) throws -> CompiledPolicy? { try past?.policy(session) }

    func response(_ figures: CompiledPolicy??, _ scene: PageScene) -> PageResponse {
        let isMissing = past != nil && figures == nil
        let policy = past == nil ? scene.facts.policy : figures ?? nil
        var (fault, hints): (String?, [String]) = (nil, [])
        if question.hadInstall {
            hints.append(
                "The address has an install id, which belongs in no address: it is left out. A rollout below 100 %"
                    + " shows which part of the installs it reaches."
            )
        }
        var answer: Answer?
        if isMissing {
            let what = question.revision.map { "Revision \($0)" } ?? "The policy of \(question.timeText)"
            fault = "\(what) cannot be read; the notice above says why."
        } else if question.bundle != nil, let policy {
            do throws(ClientError) {
                let client = try question.client()
                if let time = question.time(now: now) {
                    answer = Answer(client, policy, time)
                    hints += remarks(client, policy)
                    if time < now, !question.isOfPast {
                        hints.append(
                            "Today's policy answers, with the clock of then. For the policy of then write the time"
                                + " into the field \"As of\"."
                        )
                    }
                } else {
                    fault =
                        "The time \"\(question.timeText)\" cannot be read; write it as 2026-11-22T14:05Z or 2026-11-22T15:05+01:00."
                }
            } catch {
                fault = "This check would be refused with 400: \(error)"
            }
        }
        let view: JSONValue = [
            "frame": scene.frame(in: .attempt, refreshes: false), "fields": TryQuestion.fieldsOfForm.map(field),
            "attributes": question.attributes, "at": question.at, "asOf": question.asOf,
            "revision": question.revisionText, "fault": fault, "hints": hints,
            "answer": answer.map { shown($0, scene) }, "same": question.bundle.map { _ in sameQuestion },
        ]
        return PageTemplates.all.page("try", view, status: fault == nil || isMissing ? 200 : 400)
    }

    private func field(_ field: ClientField) -> JSONValue {
        let (label, hint) =
            switch field {
            case .bundle: ("Bundle", "com.example.doto")
            case .version: ("Version", "1.2.3")
            case .build: ("Build", "456")
            case .platform: ("Platform", "ios")
            case .region: ("Region", "JP or ja_JP")
            case .os: ("System version", "18.1")
            case .language: ("Language", "de-CH")
            case .install: ("Install", "")
            }
        return [
            "name": field.name, "label": label, "hint": hint, "value": question.value(field),
            "isRequired": field == .bundle,
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
        return CheckRemarks(client, in: rows, isPast: question.isOfPast, command: PrintedCommand.text).warnings
    }

    /// The same question on the command line and in SQL.
    private var sameQuestion: JSONValue {
        let members = question.fields.filter { !$0.value.isEmpty }.map { ($0.field.name, $0.value) } + question.lines
        // As the page has read it: without an offset, a command takes a time for one of its own zone.
        let readTime = question.time(now: now)
        let time = question.timeText.isEmpty ? nil : readTime.map { "\($0)" } ?? question.timeText
        let option = question.asOf.trimmed.isEmpty ? "--at" : "--as-of"
        let options = [time.map { "\(option) \($0.shellWord)" }, question.revision.map { "--revision \($0)" }]
            .compactMap(\.self)
        let words = ["check --explain"] + options + members.map { "\($0.0)=\($0.1)".shellWord }
        let object = members.map { "\(JSONString.literal($0.0)): \(JSONString.literal($0.1))" }.joined(separator: ", ")
        let arguments = ["{\(object)}", time].compactMap { $0?.sqlLiteral }
        return [
            "command": PrintedCommand.text(words.joined(separator: " ")),
            // The database has the present policy alone, and may refuse a time that the page cannot read.
            "sql": question.isOfPast || readTime == nil
                ? nil : "SELECT * FROM explain_check(\(arguments.joined(separator: ", ")));",
        ]
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

    private func shown(_ answer: Answer, _ scene: PageScene) -> JSONValue {
        let verdicts = verdicts(answer)
        return [
            "headline": answer.headline, "at": scene.time(answer.time), "by": answer.policy.revision,
            "json": String(decoding: answer.policy.answer(to: answer.client, at: answer.time).body, as: UTF8.self),
            "messages": answer.messages.map { $0.view(language: question.value(.language)) },
            "verdicts": Array(verdicts.prefix(Self.mostVerdicts)),
            "moreVerdicts": verdicts.count > Self.mostVerdicts
                ? "\(verdicts.count - Self.mostVerdicts) more rules are not sent; the command below names all." : nil,
        ]
    }

    /// Why each rule is sent or not.
    private func verdicts(_ answer: Answer) -> [JSONValue] {
        let section = answer.policy.section(ofApp: answer.client.bundle?.string ?? "")
        let isPaused = section?.app?.paused ?? false
        let sections = answer.policy.sections.filter { $0.app?.bundle == section?.app?.bundle }
        let off = Set(sections.flatMap(\.rules).filter { !$0.enabled }.map(\.key))
        let isBraked = !answer.policy.sendsLockouts
        return Explanation.decidingFirst(answer.policy.explain(answer.client, at: answer.time)).map { explanation in
            let isForPart =
                explanation.condition == "rollout" && explanation.rollout != .zero && !isPaused
                && !off.contains(explanation.key)
            let (outcome, style) =
                switch explanation.outcome {
                case .sent where explanation.lockout && isBraked: ("brake: sent without lockout", "part")
                case .sent: explanation.lockout ? ("sent, locks out", "lockout") : ("sent", "on")
                case .sentWithoutLockout: ("sent without lockout", "on")
                case .afterAFinalRule: ("not sent", "off")
                case .noMatch: isForPart ? ("part of the installs", "part") : ("not sent", "off")
                }
            let sentence =
                isForPart
                ? "\(explanation.key) is sent to \(explanation.rollout) % of the installs; the install id decides which, and this address has none."
                : [explanation.sentence(for: answer.client) { NumberText.minute($0) }, explanation.match]
                    .compactMap(\.self).joined(separator: " ")
                    + (isBraked && explanation.lockout && explanation.outcome == .sent
                        ? " Under the brake this server sends it as a plain message, without the lockout." : "")
            let hasCondition = explanation.condition != nil
            return [
                "key": explanation.key, "address": PageRoute.rule(explanation.key).path, "outcome": outcome,
                "style": style, "sentence": sentence, "condition": explanation.condition,
                "expected": hasCondition ? PageScene.words.sentence(explanation.expected ?? "") : nil,
                "actual": hasCondition ? PageScene.words.sentence(explanation.actual ?? "not sent") : nil,
            ]
        }
    }
}

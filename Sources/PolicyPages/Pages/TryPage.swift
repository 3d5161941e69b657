// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// The question to `/try`: the members of a check, and the policy and the time to ask.
struct TryQuestion {
    /// The members with a meaning of their own, but for the install, as they were typed.
    private(set) var fields: [(field: ClientField, value: String)]
    /// Other members, a line `name=value` each.
    private(set) var attributes = ""
    /// The time as it was typed; empty: now.
    private(set) var at = ""
    /// The time whose policy and clock are asked, as it was typed; empty: ``at`` and ``revision`` say.
    private(set) var asOf = ""
    /// The revision; nil: the one that answers.
    private(set) var revision: Int64?
    private(set) var revisionText = ""
    /// Whether the address had an install id, which is left out.
    private(set) var hadInstall = false

    /// The fields of the form.
    static let fieldsOfForm = ClientField.allCases.filter { $0 != .install }

    init(_ members: [(name: String, value: String)]) throws(PageProblem) {
        fields = []
        for (name, value) in members {
            switch name {
            case "attributes":
                let lines = value.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                let kept = lines.filter { $0.prefix { $0 != "=" }.trimmed != ClientField.install.name }
                hadInstall = hadInstall || kept.count < lines.count
                attributes = kept.joined(separator: "\n")
            case "at": at = value
            case "as-of": asOf = value
            case "revision":
                revisionText = value
                guard !value.isEmpty else { continue }
                guard let number = Int64(value), number >= 0 else {
                    throw PageProblem(
                        400,
                        "This revision cannot be read",
                        "revision is \"\(value)\"; it must be a whole number, as /history has them."
                    )
                }
                revision = number
            case "install": hadInstall = true
            default:
                guard let field = Self.fieldsOfForm.first(where: { $0.name == name }) else {
                    throw PageProblem(
                        400,
                        "This member is not known",
                        "\(name) is no member of a check; write other members as lines of attributes: name=value"
                    )
                }
                fields.append((field, value))
            }
        }
        if !asOf.trimmed.isEmpty, !at.trimmed.isEmpty || !revisionText.isEmpty {
            throw PageProblem(
                400,
                "This question names two times",
                "as-of says both the policy and the time; leave at and revision out."
            )
        }
    }

    func value(_ field: ClientField) -> String { fields.last { $0.field == field }?.value ?? "" }

    /// The app; nil where none is named, and so nothing asked.
    var bundle: String? { value(.bundle).isEmpty ? nil : value(.bundle) }

    /// The attributes by name.
    var lines: [(name: String, value: String)] {
        attributes.split(whereSeparator: \.isNewline).map { line in
            let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (pair[0].trimmed, pair.count > 1 ? pair[1].trimmed : "")
        }.filter { !$0.name.isEmpty }
    }

    /// The client that the question describes.
    func client() throws(ClientError) -> Client {
        var client = Client()
        for (field, value) in fields { try client.set(field, to: .text(UTF8Text(value))) }
        for (name, value) in lines {
            try client.set(UTF8Text(name), to: .text(UTF8Text(value)))
        }
        try client.validate()
        return client
    }

    /// Whether the policy of another time or revision is asked for.
    var isOfPast: Bool { revision != nil || !asOf.trimmed.isEmpty }

    /// The time that is asked as it was typed; empty: now.
    var timeText: String { asOf.trimmed.isEmpty ? at.trimmed : asOf.trimmed }

    /// The time that is asked; nil where it cannot be read.
    func time(now: Timestamp) -> Timestamp? {
        let text = timeText
        guard !text.isEmpty else { return now }
        return Timestamp(text) ?? Timestamp(text.replacing(" UTC", with: "Z")) ?? Timestamp(text + "Z")
    }

    /// The policy that is asked, if it is one of the past and there is all that it takes to read it.
    func past(now: Timestamp, present: Int64?) -> Past? {
        guard let bundle else { return nil }
        if let revision { return revision == present ? nil : Past(bundle: bundle, revision: revision, time: nil) }
        guard !asOf.trimmed.isEmpty else { return nil }
        return time(now: now).map { Past(bundle: bundle, revision: nil, time: $0) }
    }

    /// The policy of an app as it stood at a revision or a time.
    struct Past: Sendable {
        fileprivate let bundle: String
        fileprivate let revision: Int64?
        fileprivate let time: Timestamp?

        func policy(_ session: PostgresSession) throws -> CompiledPolicy {
            let revision = try revision ?? time.map { try PolicyHistory(session).revision(at: $0) } ?? 0
            return try CompiledPolicy(PolicyReader.policy(session, ofApp: bundle, revision: revision))
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

/// `/try`: what a client gets, and why.
struct TryPage {
    private struct Field {
        let name: String
        let label: String
        let hint: String
        let value: String
        let isRequired: Bool
    }

    private struct Verdict {
        let key: String
        let address: String
        let outcome: String
        let style: String
        let sentence: String
        let condition: String
        let expected: String
        let actual: String
        let hasCondition: Bool
    }

    private struct View {
        let frame: PageScene.Frame
        let fields: [Field]
        let attributes: String
        let at: String
        let asOf: String
        let revision: String
        let isAsked: Bool
        let fault: String
        let hints: [String]
        let hasAnswer: Bool
        let answeredAt: [PageTime]
        let answeredBy: String
        let headline: String
        let json: String
        let messages: [MessageView]
        let verdicts: [Verdict]
        let hasVerdicts: Bool
        let moreVerdicts: String
        let edits: [EditView]
    }

    private static let mostVerdicts = 200

    private let question: TryQuestion
    private let policy: CompiledPolicy?
    private let isMissing: Bool
    private let scene: PageScene

    /// - Parameter policy: The policy that is asked; nil: it could not be read.
    init(_ question: TryQuestion, _ policy: CompiledPolicy?, isMissing: Bool = false, _ scene: PageScene) {
        self.question = question
        self.policy = policy
        self.isMissing = isMissing
        self.scene = scene
    }

    var response: PageResponse {
        var fault = ""
        var hints: [String] = []
        if question.hadInstall {
            hints.append(
                "The address has an install id, which belongs in no address: it is left out. A rollout below 100 % shows which part of the installs it reaches."
            )
        }
        var answer: AnsweredCheck?
        if isMissing {
            let what = question.revision.map { "Revision \($0)" } ?? "The policy of \(question.timeText)"
            fault = "\(what) cannot be read; the notice above says why."
        } else if question.bundle != nil, let policy {
            do throws(ClientError) {
                let client = try question.client()
                if let time = question.time(now: scene.now) {
                    answer = AnsweredCheck(client, policy, time)
                    hints += remarks(client, policy)
                    if time < scene.now, question.revision == nil, question.asOf.trimmed.isEmpty {
                        hints.append(
                            "Today's policy answers, with the clock of then. For the policy of then write the time into the field \"As of\"."
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
        let verdicts = answer.map(verdicts) ?? []
        let view = View(
            frame: scene.frame("Try a check", section: "/try", refreshes: false),
            fields: TryQuestion.fieldsOfForm.map(field),
            attributes: question.attributes,
            at: question.at,
            asOf: question.asOf,
            revision: question.revisionText,
            isAsked: question.bundle != nil,
            fault: fault,
            hints: hints,
            hasAnswer: answer != nil,
            answeredAt: answer.map { [scene.time($0.time)] } ?? [],
            answeredBy: policy.map { "\($0.revision)" } ?? "",
            headline: answer.map(Self.headline) ?? "",
            json: answer.map { String(decoding: $0.policy.answer(to: $0.client, at: $0.time).body, as: UTF8.self) }
                ?? "",
            messages: answer.map { $0.messages.map { MessageView($0, language: question.value(.language)) } } ?? [],
            verdicts: Array(verdicts.prefix(Self.mostVerdicts)),
            hasVerdicts: !verdicts.isEmpty,
            moreVerdicts: verdicts.count > Self.mostVerdicts
                ? "\(verdicts.count - Self.mostVerdicts) more rules are not sent; the command below names all." : "",
            edits: question.bundle == nil ? [] : [sameQuestion]
        )
        return PageTemplates.all.page("try", view, status: fault.isEmpty || isMissing ? 200 : 400)
    }

    /// A check that was answered.
    private struct AnsweredCheck {
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
    }

    private static func headline(_ answer: AnsweredCheck) -> String {
        let lockouts = answer.messages.count { $0.lockout }
        if lockouts > 0 { return "Locked out." }
        return switch answer.messages.count {
        case 0: "No message."
        case 1: "1 message, no lockout."
        default: "\(answer.messages.count) messages, no lockout."
        }
    }

    private func field(_ field: ClientField) -> Field {
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
        return Field(
            name: field.name,
            label: label,
            hint: hint,
            value: question.value(field),
            isRequired: field == .bundle
        )
    }

    private func remarks(_ client: Client, _ policy: CompiledPolicy) -> [String] {
        let bundle = client.bundle?.string ?? ""
        let section = policy.section(ofApp: bundle)
        let general = policy.sections.last { $0.app == nil && $0.rules.first?.bundle == nil }
        let apps = section?.app.map { [$0] } ?? policy.sections.compactMap(\.app)
        return CheckRemarks(
            client,
            in: Policy(
                revision: policy.revision,
                token: policy.token,
                apps: apps,
                releases: section?.releases ?? [],
                rules: (section?.rules ?? []) + (general?.rules ?? [])
            ),
            isPast: question.isOfPast,
            command: PrintedCommand.text
        ).warnings
    }

    private func verdicts(_ answer: AnsweredCheck) -> [Verdict] {
        let section = answer.policy.section(ofApp: answer.client.bundle?.string ?? "")
        let isPaused = section?.app?.paused ?? false
        let explanations = Explanation.decidingFirst(answer.policy.explain(answer.client, at: answer.time))
        let off = Set(
            answer.policy.sections.filter { $0.app?.bundle == section?.app?.bundle }.flatMap(\.rules).filter {
                !$0.enabled
            }
            .map(\.key)
        )
        return explanations.map { explanation in
            let isForPart =
                explanation.condition == "rollout" && explanation.rollout != .zero
                && !isPaused && !off.contains(explanation.key)
            let (outcome, style) =
                switch explanation.outcome {
                case .sent: explanation.lockout ? ("sent, locks out", "lockout") : ("sent", "on")
                case .sentWithoutLockout: ("sent without lockout", "on")
                case .afterAFinalRule: ("not sent", "off")
                case .noMatch: isForPart ? ("part of the installs", "part") : ("not sent", "off")
                }
            return Verdict(
                key: explanation.key,
                address: Address.rule(explanation.key),
                outcome: outcome,
                style: style,
                sentence: isForPart
                    ? "\(explanation.key) is sent to \(explanation.rollout) % of the installs; the install id decides which, and this address has none."
                    : explanation.sentence(for: answer.client) { PageTime.text($0) },
                condition: explanation.condition ?? "",
                expected: PageScene.words.sentence(explanation.expected ?? ""),
                actual: PageScene.words.sentence(explanation.actual ?? "not sent"),
                hasCondition: explanation.condition != nil
            )
        }
    }

    /// The same question on the command line and in SQL.
    private var sameQuestion: EditView {
        let members = question.fields.filter { !$0.value.isEmpty }.map { ($0.field.name, $0.value) } + question.lines
        // As the page has read it: without an offset, a command takes a time for one of its own zone.
        let time = question.timeText.isEmpty ? nil : question.time(now: scene.now).map { "\($0)" } ?? question.timeText
        let option = question.asOf.trimmed.isEmpty ? "--at" : "--as-of"
        let options = [time.map { "\(option) \($0.shellWord)" }, question.revision.map { "--revision \($0)" }]
            .compactMap(\.self)
        let object = members.map { "\(JSONString.literal($0.0)): \(JSONString.literal($0.1))" }.joined(separator: ", ")
        let arguments = ["{\(object)}", time].compactMap { $0?.sqlLiteral }
        return EditView(
            what: "Ask the same elsewhere",
            command: PrintedCommand.text(
                (["check --explain"] + options + members.map { "\($0.0)=\($0.1)".shellWord }).joined(separator: " ")
            ),
            // The database has the present policy alone.
            sql: question.isOfPast ? "" : "SELECT * FROM explain_check(\(arguments.joined(separator: ", ")));"
        )
    }
}

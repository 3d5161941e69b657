import PolicyStore
import Postgres
import UpdatePolicy

/// Makes an edit after its impact was shown and, where required, approved.
///
/// The effect of the edit is found in a transaction that is rolled back, so that no transaction is open during the
/// question. The edit is then made only if the policy is still in the state that was reviewed.
struct EditApproval {
    let connection: PostgresConnection
    let editing: PolicyEditing
    /// The name of the database in messages.
    let database: String
    /// Whether `--yes` was given.
    let yes: Bool
    /// What the database warns of, some of which needs approval.
    let warnings: EditWarnings
    /// Whether removals and withdrawals need approval, whatever their impact.
    var asksAboutRemovals = false
    /// Whether edits of a great part of the rows of an app need approval.
    var asksAboutMassEdits = false
    /// What else needs approval: why something else may be meant.
    var doubts: [String] = []

    /// How often the edit is attempted while others edit and nobody was asked.
    private static let mostAttempts = 5

    /// Makes an edit.
    ///
    /// - Parameters:
    ///   - author: Who edits.
    ///   - body: Changes the rows; called several times.
    /// - Returns: What changed, nil if nothing did.
    /// - Throws: An error if approval is missing or the policy changed meanwhile. Nothing is changed then.
    func make(
        by author: EditAuthor,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> PolicyChange? {
        var attempt = 1
        while true {
            let outcome =
                (asksAboutRemovals || asksAboutMassEdits || !doubts.isEmpty) && !yes
                ? try await editing.rehearse(body) : try await editing.editUnlessReviewIsNeeded(by: author, body)
            let base: PolicyVersion
            var reasons = doubts + warnings.takeQuestions().map { $0.visible() }
            var consent: [String] = []
            if asksAboutRemovals, !yes, let removal = outcome.change.flatMap(Removal.init) {
                print(removal.text(database: database))
                if reasons.isEmpty || !Terminal.canAsk { reasons.append(removal.reason) }
            }
            switch outcome {
            case .unchanged:
                return nil
            case .made(let change):
                return change
            case .rehearsed(_, let state):
                base = state
            case .needsReview(let edit, let before):
                let impact = try await EditImpact(of: edit, before: before, connection)
                print(impact.text(on: .standardOutput))
                if let reason = impact.approvalReason { reasons.append(reason) }
                consent = edit.consent
                reasons += edit.after.rules.filter { consent.contains($0.key) }.map(Self.reason)
                base = edit.base
            }
            let wasAsked = try ApprovalRequirement(
                reasons: reasons, database: database, yes: yes, canAsk: Terminal.canAsk
            )
            .require()
            do {
                return try await editing.edit(by: author, onto: base, consent: consent, body)
            } catch PolicyConflict.changedSinceReview where !wasAsked && attempt < Self.mostAttempts {
                attempt += 1
            }
        }
    }

    /// Why a lockout that needs consent is asked about.
    private static func reason(_ rule: Rule) -> String {
        guard rule.bundle != nil else { return "\(rule.key) locks out in every app" }
        return "\(rule.key) locks out also who has nothing to update to"
            + (rule.endsAt.map { ", until \(TimeText.local($0))" } ?? ", and has no end")
    }
}

/// Whether an edit needs approval: no, by an answer to a question, or by `--yes`.
enum ApprovalRequirement: Equatable {
    /// No approval is needed, or it was given.
    case given
    /// A person must be asked.
    case question(String)
    /// Approval is needed, and there is nobody to ask.
    case missing(String)

    /// Decides.
    ///
    /// - Parameters:
    ///   - reasons: Why approval is needed; empty where it is not.
    ///   - database: The name of the database in messages.
    ///   - yes: Whether `--yes` was given.
    ///   - canAsk: Whether there is a terminal.
    init(reasons: [String], database: String, yes: Bool, canAsk: Bool) {
        guard !reasons.isEmpty, !yes else {
            self = .given
            return
        }
        let reason = reasons.joined(separator: ", and ")
        if canAsk {
            self = .question("\(reason.prefix(1).uppercased())\(reason.dropFirst()).\nDo it on \(database.visible())?")
        } else {
            self = .missing(
                "\(reason); nothing was changed on \(database.visible()); repeat it with --yes if it is meant"
            )
        }
    }

    /// Asks the question, if there is one.
    ///
    /// - Returns: Whether a question was asked.
    /// - Throws: an error that says that nothing was changed, and why.
    @discardableResult
    func require() throws -> Bool {
        switch self {
        case .given:
            return false
        case .question(let question):
            guard Terminal.confirms(question) else {
                throw CommandError("nothing was changed, as the answer was not y")
            }
            return true
        case .missing(let error):
            throw CommandError(error)
        }
    }
}

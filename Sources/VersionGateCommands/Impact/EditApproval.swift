import PolicyStore
import UpdatePolicy

/// Shows whom an edit reaches, and asks where it may do harm.
struct EditApproval {
    /// The name of the database in messages.
    let database: String
    /// Whether `--yes` was given.
    let yes: Bool
    /// What the database warns of, some of which needs approval.
    let warnings: EditWarnings
    /// Whether removals and withdrawals need approval, whatever their impact.
    let asksAboutRemovals: Bool
    /// What else needs approval: why something else may be meant.
    let doubts: [String]

    /// - Returns: Whether somebody was asked.
    /// - Throws: An error if approval is missing.
    func review(_ edit: DryRun) throws -> Bool {
        var reasons = doubts + warnings.takeQuestions().map { $0.visible() }
        if asksAboutRemovals, !yes, let removal = Removal(edit.change) {
            print(removal.text(database: database))
            if reasons.isEmpty || !Terminal.canAsk { reasons.append(removal.reason) }
        }
        if let reach = edit.reach {
            let impact = try EditImpact(of: reach)
            print(impact.report.text())
            if let reason = impact.approvalReason { reasons.append(reason) }
            reasons += reach.after.rules.filter { edit.consent.contains($0.key) }.map(Self.reason)
        }
        return try Self.require(reasons, on: database, yes: yes)
    }

    /// Why a lockout that needs consent is asked about.
    private static func reason(_ rule: Rule) -> String {
        guard rule.bundle != nil else { return "\(rule.key) locks out in every app" }
        return "\(rule.key) locks out also who has nothing to update to"
            + (rule.endsAt.map { ", until \(TimeText.local($0))" } ?? ", and has no end")
    }

    /// Asks, where there are reasons and `--yes` was not given.
    ///
    /// - Returns: Whether somebody was asked.
    /// - Throws: An error that says that nothing was changed, and why.
    @discardableResult
    static func require(_ reasons: [String], on database: String, yes: Bool) throws -> Bool {
        guard !reasons.isEmpty, !yes else { return false }
        let reason = reasons.joined(separator: ", and ")
        guard Terminal.canAsk else {
            throw CommandError(
                "\(reason); nothing was changed on \(database.visible()); repeat it with --yes if it is meant"
            )
        }
        guard
            Terminal.confirms("\(reason.prefix(1).uppercased())\(reason.dropFirst()).\nDo it on \(database.visible())?")
        else { throw CommandError("nothing was changed, as the answer was not y") }
        return true
    }
}

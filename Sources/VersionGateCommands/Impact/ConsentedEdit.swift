// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import PolicyStore
import Postgres

/// Makes an edit once everybody who has to has seen its impact and agreed.
///
/// What the edit does is found out in a transaction that is taken back, so none is open while somebody thinks. The edit
/// is then made only if the policy is still the one that was looked at.
struct ConsentedEdit {
    let connection: PostgresConnection
    let logger: Logger
    /// What people know the database by.
    let database: String
    /// Whether `--yes` was given.
    let yes: Bool
    /// Whether somebody has to agree to what is removed or withdrawn, whatever its impact.
    var asksAboutRemovals = false

    /// How often the impact is found out anew when others edit meanwhile and nobody was asked.
    private static let mostAttempts = 5

    /// Makes an edit.
    ///
    /// - Parameters:
    ///   - author: Who edits.
    ///   - body: Changes the rows; called several times.
    /// - Returns: What changed, nil if nothing did.
    /// - Throws: an error if consent is missing or the policy changed meanwhile. Nothing is changed then.
    func make(
        by author: EditAuthor,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> PolicyChange? {
        let editing = PolicyEditing(connection, logger: logger)
        var attempt = 1
        while true {
            let outcome =
                asksAboutRemovals && !yes
                ? try await editing.rehearse(body) : try await editing.editUnlessOfConcern(by: author, body)
            let base: PolicyVersion?
            var reasons: [String] = []
            if asksAboutRemovals, !yes, let removal = outcome.change.flatMap(Removal.init) {
                print(removal.text(database: database))
                reasons.append(removal.reason)
            }
            switch outcome {
            case .unchanged:
                return nil
            case .made(let change):
                return change
            case .rehearsed(_, let state):
                base = state
            case .heldBack(let edit, let before):
                let impact = try await EditImpact(of: edit, before: before, connection)
                print(impact.text(on: .standardOutput))
                if let reason = impact.reasonForConsent { reasons.append(reason) }
                base = edit.base
            }
            let wasAsked = try EditConsent(reasons: reasons, database: database, yes: yes, canAsk: Terminal.canAsk)
                .require()
            do {
                return try await editing.edit(by: author, onto: base, body)
            } catch let error as PolicyChangedError {
                guard !wasAsked, attempt < Self.mostAttempts else { throw error }
                attempt += 1
            }
        }
    }
}

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
    /// Whether `--yes` was given.
    let yes: Bool

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
            switch try await editing.editUnlessOfConcern(by: author, body) {
            case .unchanged:
                return nil
            case .made(let change):
                return change
            case .heldBack(let edit, let before):
                let impact = try await EditImpact(of: edit, before: before, connection)
                print(impact.text(on: .standardOutput))
                let wasAsked = try EditConsent(
                    reason: impact.reasonForConsent,
                    yes: yes,
                    canAsk: Terminal.canAsk
                ).require()
                do {
                    return try await editing.edit(by: author, onto: edit.base, body)
                } catch let error as PolicyChangedError {
                    guard !wasAsked, attempt < Self.mostAttempts else { throw error }
                    attempt += 1
                }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
public import UpdatePolicy

/// What an edit would do, found out by making it and taking it back.
public struct EditRehearsal: Sendable {
    /// What would change; its number and time are not final.
    public let change: PolicyChange
    /// What it concerns; nil where it concerns nothing that clients get.
    public let concern: EditConcern?
    /// The policy before and after it, as far as it is concerned.
    public let policies: (before: Policy, after: Policy)?
}

extension PolicyEditing {
    /// Makes an edit as ``edit(by:onto:_:)`` does, tells what it changes, and takes everything back.
    ///
    /// So what is shown is what the database would do, and what it would refuse is refused. Others who commit edits wait
    /// for the end of the rehearsal.
    ///
    /// - Parameter body: Changes the rows.
    /// - Returns: What would change, nil if nothing would.
    /// - Throws: What ``edit(by:onto:_:)`` throws.
    public func rehearse(_ body: @Sendable (PolicyEditor) throws -> Void) async throws -> EditRehearsal? {
        do {
            return try await connection.transaction(.readWrite) { [migrator] session -> EditRehearsal? in
                guard let made = try Self.make(session, migrator, EditAuthor(osUser: nil, why: nil), body) else {
                    return nil
                }
                let concern = try EditConcern(of: made.change.id, session)
                throw Rehearsed(
                    made: made,
                    concern: concern,
                    after: try concern.map { try PolicyReader.policy(session, bundles: $0.bundles) }
                )
            }
        } catch let rehearsed as Rehearsed {
            var policies: (before: Policy, after: Policy)?
            if let concern = rehearsed.concern, let after = rehearsed.after, let base = rehearsed.made.base,
                let before = try await policy(at: base, of: concern)
            {
                policies = (before, after)
            }
            return EditRehearsal(change: rehearsed.made.change, concern: rehearsed.concern, policies: policies)
        }
    }

    /// The end of a rehearsal, thrown so that the transaction is rolled back.
    private struct Rehearsed: Error {
        let made: MadeEdit
        let concern: EditConcern?
        let after: Policy?
    }
}

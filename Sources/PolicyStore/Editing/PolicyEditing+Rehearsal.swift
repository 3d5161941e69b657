// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres

extension PolicyEditing {
    /// Makes an edit as ``edit(by:_:)`` does, tells what it changes, and takes everything back.
    ///
    /// So what is shown is what the database would do, and what it would refuse is refused. Others who commit edits wait
    /// for the end of the rehearsal.
    ///
    /// - Parameter body: Changes the rows.
    /// - Returns: What would change, nil if nothing would.
    /// - Throws: What ``edit(by:_:)`` throws.
    public func rehearse(_ body: @Sendable (PolicyEditor) throws -> Void) async throws -> PolicyChange? {
        do {
            return try await connection.transaction(.readWrite) { [migrator] session -> PolicyChange? in
                try migrator.status(session).requireCurrent()
                let before = try PolicyReader.version(session)
                try body(PolicyEditor(session: session))
                try session.execute("SET CONSTRAINTS ALL IMMEDIATE")
                let after = try PolicyReader.version(session)
                guard after != before else { return nil }
                throw Rehearsed(change: try PolicyHistory(session).change(after.revision))
            }
        } catch let rehearsed as Rehearsed {
            return rehearsed.change
        }
    }

    /// The end of a rehearsal, thrown so that the transaction is rolled back.
    private struct Rehearsed: Error {
        let change: PolicyChange?
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Logging
public import Postgres
import UpdatePolicy

/// Makes edits of the policy: one transaction, one entry of the history.
public struct PolicyEditing: Sendable {
    let connection: PostgresConnection
    let migrator: SchemaMigrator

    /// Creates editing over a connection whose role may edit.
    public init(_ connection: PostgresConnection, logger: Logger) {
        self.connection = connection
        migrator = SchemaMigrator(logger: logger)
    }

    /// Makes one edit.
    ///
    /// Everything that would be judged at commit is judged before, so that the entry of the history can be read within
    /// the same transaction.
    ///
    /// - Parameters:
    ///   - author: Who edits, as far as the database cannot know it.
    ///   - base: The state that the edit was looked at on; nil: any.
    ///   - body: Changes the rows.
    /// - Returns: What changed, nil if nothing did.
    /// - Throws: ``SchemaError`` unless the schema is this binary's; ``PolicyChangedError`` if the policy is no longer
    ///   in the state `base`; what `body` throws; `PostgresError` if the database refuses the edit. Nothing is changed
    ///   then.
    public func edit(
        by author: EditAuthor,
        onto base: PolicyVersion? = nil,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> PolicyChange? {
        try await connection.transaction(.readWrite) { [migrator] session in
            guard let made = try Self.make(session, migrator, author, body) else { return nil }
            if let base, made.base != base {
                throw PolicyChangedError(expected: base, found: try PolicyReader.version(session))
            }
            return made.change
        }
    }

    /// Makes one edit, unless it concerns what clients get: then it is taken back, to be looked at first.
    ///
    /// - Parameters:
    ///   - author: Who edits, as far as the database cannot know it.
    ///   - body: Changes the rows; may be called several times.
    /// - Throws: As ``edit(by:onto:_:)``. Nothing is changed then.
    public func editUnlessOfConcern(
        by author: EditAuthor,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> EditOutcome {
        try await outcome(by: author, commits: true, body)
    }

    /// Makes an edit, looks at what it does, and takes it back, or commits it where it concerns nobody.
    func outcome(
        by author: EditAuthor,
        commits: Bool,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> EditOutcome {
        for _ in 0..<Self.mostAttempts {
            do {
                return try await connection.transaction(.readWrite) { [migrator] session in
                    guard let made = try Self.make(session, migrator, author, body) else { return .unchanged }
                    guard let concern = try EditConcern(of: made.change.id, session) else {
                        guard commits else { throw Rehearsed(change: made.change, base: made.base) }
                        return .made(made.change)
                    }
                    guard let base = made.base else { throw HeldBack(edit: nil) }
                    throw HeldBack(
                        edit: EditOutcome.HeldBack(
                            change: made.change,
                            base: base,
                            concern: concern,
                            after: try PolicyReader.policy(session, bundles: concern.bundles)
                        )
                    )
                }
            } catch let rehearsed as Rehearsed {
                return .rehearsed(rehearsed.change, base: rehearsed.base)
            } catch let heldBack as HeldBack {
                if let edit = heldBack.edit, let before = try await policy(at: edit.base, of: edit.concern) {
                    return .heldBack(edit, before: before)
                }
            }
        }
        throw PolicyChangedError.tooOften
    }

    /// Takes the transaction of an edit back that concerns nobody and was only tried.
    private struct Rehearsed: Error {
        let change: PolicyChange
        let base: PolicyVersion?
    }

    /// How long an edit waits for rows that another session has edited and not committed.
    private static let lockTimeout = "5s"

    /// How often an edit is looked at anew because others edit at the same time.
    private static let mostAttempts = 20

    /// Takes the transaction of an edit back; without the edit if another one came between.
    private struct HeldBack: Error {
        let edit: EditOutcome.HeldBack?
    }

    /// An edit within its transaction.
    private struct MadeEdit {
        let change: PolicyChange
        /// The state before it; nil where another edit was committed after this one had begun.
        let base: PolicyVersion?
    }

    private static func make(
        _ session: PostgresSession,
        _ migrator: SchemaMigrator,
        _ author: EditAuthor,
        _ body: (PolicyEditor) throws -> Void
    ) throws -> MadeEdit? {
        try migrator.status(session).requireCurrent()
        _ = try session.query(
            """
            SELECT set_config('versiongate.os_user', $1, true), set_config('versiongate.why', $2, true),
                set_config('lock_timeout', $3, true)
            """,
            [author.osUser ?? "", author.why ?? "", lockTimeout]
        )
        let before = try PolicyReader.version(session)
        try body(PolicyEditor(session: session))
        try session.execute("SET CONSTRAINTS ALL IMMEDIATE")
        let after = try PolicyReader.version(session)
        guard after != before, let change = try PolicyHistory(session).change(after.revision) else { return nil }
        return MadeEdit(change: change, base: after.revision == before.revision + 1 ? before : nil)
    }

    /// The policy as far as an edit concerns it, nil if it is no longer in that state.
    private func policy(at base: PolicyVersion, of concern: EditConcern) async throws -> Policy? {
        let policy = try await connection.transaction(.repeatableReadReadOnly) { session in
            try PolicyReader.policy(session, bundles: concern.bundles)
        }
        return policy.revision == base.revision && policy.token == base.token ? policy : nil
    }
}

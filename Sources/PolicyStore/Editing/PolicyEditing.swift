// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Logging
public import Postgres

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
    ///   - body: Changes the rows.
    /// - Returns: What changed, nil if nothing did.
    /// - Throws: ``SchemaError`` unless the schema is this binary's; what `body` throws; `PostgresError` if the
    ///   database refuses the edit. Nothing is changed then.
    public func edit(
        by author: EditAuthor,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> PolicyChange? {
        try await connection.transaction(.readWrite) { [migrator] session in
            try migrator.status(session).requireCurrent()
            _ = try session.query(
                "SELECT set_config('versiongate.os_user', $1, true), set_config('versiongate.why', $2, true)",
                [author.osUser ?? "", author.why ?? ""]
            )
            let before = try PolicyReader.version(session)
            try body(PolicyEditor(session: session))
            try session.execute("SET CONSTRAINTS ALL IMMEDIATE")
            let after = try PolicyReader.version(session)
            guard after != before else { return nil }
            return try PolicyHistory(session).change(after.revision)
        }
    }
}

package import Logging
package import Postgres
import UpdatePolicy

/// Makes edits of the policy: one transaction, one entry of the history.
package struct PolicyEditing: Sendable {
    let connection: PostgresConnection
    let migrator: SchemaMigrator

    /// Creates editing over a connection whose role may edit.
    package init(_ connection: PostgresConnection, logger: Logger) {
        self.connection = connection
        migrator = SchemaMigrator(logger: logger)
    }

    /// Reads what an edit depends on, before anything is asked or tried.
    ///
    /// - Parameters:
    ///   - commits: Whether the edit is to be committed: a planner is refused here, as the database would at the commit.
    ///   - body: Reads, in one transaction.
    /// - Throws: ``SchemaError`` unless the schema is this binary's; the refusal of the database; what `body` throws.
    package func prepare<Result: Sendable>(
        commits: Bool,
        _ body: @Sendable (PostgresSession) throws -> Result
    ) async throws -> Result {
        try await connection.transaction(.repeatableReadReadOnly) { [migrator] session in
            try migrator.status(session).requireCurrent()
            if commits, try session.query("SELECT versiongate_internal.may_only('planner')").value(as: Bool.self) {
                try session.query("SELECT versiongate_internal.refuse_planner()")
            }
            return try body(session)
        }
    }

    /// Makes one edit.
    ///
    /// Everything that would be judged at commit is judged before, so that the entry of the history can be read within
    /// the same transaction.
    ///
    /// - Parameters:
    ///   - author: Who edits, in addition to the role that the database knows.
    ///   - base: The state at which the edit was reviewed; nil: any.
    ///   - consent: The keys of lockouts for everybody that were asked about, and are meant.
    ///   - body: Changes the rows.
    /// - Returns: What changed, nil if nothing did.
    /// - Throws: ``SchemaError`` unless the schema is this binary's; ``PolicyConflict`` if the policy is no longer
    ///   in the state `base`; what `body` throws; `PostgresError` if the database refuses the edit. Nothing is changed
    ///   then.
    package func edit(
        by author: EditAuthor,
        onto base: PolicyVersion? = nil,
        consent: [String] = [],
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> PolicyChange? {
        try await connection.transaction(.readWrite) { [migrator] session in
            try migrator.status(session).requireCurrent()
            guard let made = try Self.make(session, author, consent: consent, body) else { return nil }
            if let base, made.base != base {
                throw PolicyConflict.changedSinceReview(
                    try PolicyReader.version(session).revision,
                    expected: base.revision
                )
            }
            return made.change
        }
    }

    /// Makes one edit, unless it affects what clients get: then it is rolled back, to be reviewed first.
    ///
    /// ``prepare(commits:_:)`` comes before it, and has judged the schema.
    ///
    /// - Parameters:
    ///   - author: Who edits, in addition to the role that the database knows.
    ///   - body: Changes the rows; may be called several times.
    /// - Throws: As ``edit(by:onto:_:)``. Nothing is changed then.
    package func editUnlessReviewIsNeeded(
        by author: EditAuthor,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> EditOutcome {
        try await outcome(by: author, commits: true, body)
    }

    /// Makes an edit as ``edit(by:onto:_:)`` does, returns what it changes, and rolls it back.
    ///
    /// So the result is what the database would do, and refusals are those of the database. Other edits wait at their commit
    /// for the end of the rehearsal. ``prepare(commits:_:)`` comes before it, and has judged the schema.
    ///
    /// - Parameter body: Changes the rows; may be called several times.
    /// - Returns: What would become of the edit; `.rehearsed` where it does not affect what clients get.
    /// - Throws: What ``edit(by:onto:_:)`` throws.
    package func rehearse(_ body: @Sendable (PolicyEditor) throws -> Void) async throws -> EditOutcome {
        try await outcome(by: EditAuthor(osUser: nil, why: nil), commits: false, body)
    }

    private func outcome(
        by author: EditAuthor,
        commits: Bool,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> EditOutcome {
        for _ in 0..<Self.mostAttempts {
            switch try await attempt(by: author, commits: commits, body) {
            case .ended(let outcome):
                return outcome
            case .needsReview(let edit):
                if let before = try await policy(at: edit.base, in: edit.apps) {
                    return .needsReview(edit, before: before)
                }
            case .overtaken:
                break
            }
        }
        throw PolicyConflict.tooManyEdits
    }

    /// The outcome of an attempt to make an edit.
    private enum Attempt: Sendable {
        case ended(EditOutcome)
        case needsReview(EditOutcome.RolledBack)
        /// Another edit was committed after this one had begun.
        case overtaken
    }

    /// Makes an edit, finds the apps that it is about, and rolls it back; commits it if it does not affect what clients get.
    private func attempt(
        by author: EditAuthor,
        commits: Bool,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> Attempt {
        try await connection.transaction(
            .readWrite,
            deciding: { session in
                guard let made = try Self.make(session, author, consent: nil, body) else {
                    return .rollback(.ended(.unchanged))
                }
                let apps = try EditedApps(of: made.change.id, session)
                if apps == nil, commits, made.consent.isEmpty { return .commit(.ended(.made(made.change))) }
                // What is approved is approved for this state, whether or not it affects clients.
                guard let base = made.base else { return .rollback(.overtaken) }
                guard let apps else { return .rollback(.ended(.rehearsed(made.change, base: base))) }
                return .rollback(
                    .needsReview(
                        EditOutcome.RolledBack(
                            change: made.change, base: base, apps: apps,
                            after: try PolicyReader.policy(session, bundles: apps.bundles), consent: made.consent
                        )
                    )
                )
            }
        )
    }

    /// How long an edit waits for rows that another session has edited and not committed.
    private static let lockTimeout = "5s"

    /// How often an edit is attempted while others edit at the same time.
    private static let mostAttempts = 20

    /// An edit within its transaction.
    private struct MadeEdit {
        let change: PolicyChange
        /// The state before it; nil where another edit was committed after this one had begun.
        let base: PolicyVersion?
        /// The keys of the lockouts that it has consent for.
        let consent: [String]
    }

    /// - Parameter consent: The keys of lockouts that are meant; nil where the edit is rolled back if any needs it.
    private static func make(
        _ session: PostgresSession,
        _ author: EditAuthor,
        consent: [String]?,
        _ body: (PolicyEditor) throws -> Void
    ) throws -> MadeEdit? {
        _ = try session.query(
            """
            SELECT set_config('versiongate.os_user', $1, true), set_config('versiongate.why', $2, true),
                set_config('lock_timeout', $3, true)
            """,
            [author.osUser ?? "", author.why ?? "", lockTimeout]
        )
        let before = try PolicyReader.version(session)
        let editor = PolicyEditor(session: session, assumesConsent: consent == nil)
        try editor.consent(to: consent ?? [])
        try body(editor)
        guard let id = try editor.judge(), let change = try PolicyHistory(session).change(id) else { return nil }
        return MadeEdit(change: change, base: id == before.revision + 1 ? before : nil, consent: try editor.consent)
    }

    /// The policy of the apps that an edit affects, nil if it is no longer in that state.
    private func policy(at base: PolicyVersion, in apps: EditedApps) async throws -> Policy? {
        let policy = try await connection.transaction(.repeatableReadReadOnly) { session in
            try PolicyReader.policy(session, bundles: apps.bundles)
        }
        return policy.revision == base.revision && policy.token == base.token ? policy : nil
    }
}

/// Who makes an edit and why: what the program knows and the database does not.
package struct EditAuthor: Sendable {
    /// The name of the operating system's user.
    package var osUser: String?
    /// The reason given.
    package var why: String?

    /// Creates an author.
    package init(osUser: String?, why: String?) {
        self.osUser = osUser
        self.why = why
    }
}

package import Logging
package import Postgres
package import UpdatePolicy

/// Makes edits of the policy, by a ``PolicyEditor``: one transaction, one entry of the history.
package struct PolicyTransaction: Sendable {
    private let connection: PostgresConnection
    private let migrator: SchemaMigrator
    private static let lockTimeout = "5s"
    private static let mostAttempts = 50

    package init(_ connection: PostgresConnection, logger: Logger) {
        self.connection = connection
        migrator = SchemaMigrator(logger: logger)
    }

    /// Reads what an edit depends on, before anything is asked or tried. Where the edit is to be committed, a planner is
    /// refused here, as the database would at the commit.
    package func prepare<Result: Sendable>(
        commits: Bool,
        _ body: @Sendable (PostgresSession) throws -> Result
    ) async throws -> Result {
        try await connection.transaction(.repeatableReadReadOnly) { [migrator] session in
            try migrator.status(session).requireCurrent()
            if commits, try session.query("SELECT versiongate_internal.may_only('planner')").value() {
                try session.query("SELECT versiongate_internal.refuse_planner()")
            }
            return try body(session)
        }
    }

    /// Makes an edit, rolls it back, and says what it would change; nil: nothing. So refusals are those of the database.
    /// ``prepare(commits:_:)`` comes before it, and has judged the schema. `body` may be called several times.
    package func dryRun(_ body: @Sendable (PolicyEditor) throws -> Void) async throws -> DryRun? {
        try await untilNotOvertaken { try await attempt(by: nil, body).dryRun }
    }

    /// Makes an edit after a review of a dry run, onto the state of that. `body` may be called several times.
    ///
    /// - Parameters:
    ///   - reviewsAll: Whether an edit is reviewed that does not affect what clients get; else it is made at once.
    ///   - review: Throws where the edit is not to be made; returns whether somebody was asked. No transaction is open then.
    package func edit(
        by author: EditAuthor,
        reviewsAll: Bool = false,
        review: (DryRun) async throws -> Bool,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> PolicyChange? {
        try await untilNotOvertaken {
            let attempt = try await attempt(by: reviewsAll ? nil : author, body)
            guard let dryRun = attempt.dryRun else { return attempt.made }
            let wasAsked = try await review(dryRun)
            do {
                return try await commit(by: author, onto: dryRun.base, consent: dryRun.consent, body)
            } catch PolicyConflict.overtaken where wasAsked {
                throw PolicyConflict.changedSinceReview(dryRun.base.revision)
            }
        }
    }

    /// Makes an edit onto a state, or onto any; throws ``PolicyConflict/overtaken`` if another is committed meanwhile.
    ///
    /// - Parameter consent: The keys of lockouts for everybody that were asked about, and are meant.
    package func commit(
        by author: EditAuthor,
        onto base: PolicyVersion? = nil,
        consent: [String] = [],
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> PolicyChange? {
        try await transaction { [migrator] session in
            try migrator.status(session).requireCurrent()
            let present = try Self.begin(session, author)
            if let base, present != base { throw PolicyConflict.overtaken }
            let editor = PolicyEditor(session: session, assumesConsent: false)
            try editor.consent(to: consent)
            try body(editor)
            return .commit(try editor.validate().flatMap { try PolicyHistory(session).change($0) })
        }
    }

    /// Makes an edit and rolls it back, unless it is for an author and does not affect what clients get; neither where it
    /// changes nothing. Others who commit wait only while what comes after is read.
    private func attempt(
        by author: EditAuthor?,
        _ body: @Sendable (PolicyEditor) throws -> Void
    ) async throws -> (made: PolicyChange?, dryRun: DryRun?) {
        try await transaction { session in
            let base = try Self.begin(session, author)
            try session.execute("SAVEPOINT before_edit")
            let editor = PolicyEditor(session: session, assumesConsent: true)
            try editor.consent(to: [])
            try body(editor)
            guard let id = try editor.validate(), let change = try PolicyHistory(session).change(id) else {
                return .rollback((nil, nil))
            }
            var dryRun = DryRun(change: change, base: base, consent: try editor.consent)
            guard let bundles = try editor.scope(ofChange: id) else {
                return author != nil && dryRun.consent.isEmpty ? .commit((change, nil)) : .rollback((nil, dryRun))
            }
            let after = try PolicyReader.policy(session, bundles: bundles)
            try session.execute("ROLLBACK TO before_edit")
            dryRun.reach = DryRun.Reach(
                before: try PolicyReader.policy(session, bundles: bundles), after: after,
                checks: try CountReader(session).recentChecksIfReadable(days: RecentChecks.usualDays, bundles: bundles),
                time: try session.query("SELECT clock_timestamp()").value()
            )
            return .rollback((nil, dryRun))
        }
    }

    private static func begin(_ session: PostgresSession, _ author: EditAuthor?) throws -> PolicyVersion {
        try session.query(
            """
            SELECT set_config('versiongate.os_user', $1, true), set_config('versiongate.why', $2, true),
                set_config('lock_timeout', $3, true)
            """,
            [author?.osUser ?? "", author?.why ?? "", lockTimeout]
        )
        return try PolicyReader.version(session)
    }

    /// Runs a transaction that sees one moment, and fails where another one commits an edit after it.
    private func transaction<Result: Sendable>(
        _ body: @Sendable (PostgresSession) throws -> PostgresTransactionEnd<Result>
    ) async throws -> Result {
        do {
            return try await connection.transaction(.repeatableRead, deciding: body)
        } catch let error as PostgresError where error.sqlState == .serializationFailure {
            throw PolicyConflict.overtaken
        }
    }

    private func untilNotOvertaken<Result>(_ body: () async throws -> Result) async throws -> Result {
        for _ in 0..<Self.mostAttempts {
            do { return try await body() } catch PolicyConflict.overtaken {}
        }
        throw PolicyConflict.tooManyEdits
    }
}

/// An edit that was made and rolled back.
package struct DryRun: Sendable {
    /// Its time is not final.
    package let change: PolicyChange
    package let base: PolicyVersion
    package let consent: [String]
    /// Whom it reaches; nil where it does not affect what clients get.
    package fileprivate(set) var reach: Reach?

    package struct Reach: Sendable {
        package let before: Policy
        package let after: Policy
        package let checks: RecentChecks
        package let time: Timestamp
    }
}

package struct EditAuthor: Sendable {
    package let osUser: String?
    package let why: String?

    package init(osUser: String?, why: String?) { (self.osUser, self.why) = (osUser, why) }
}

package enum PolicyConflict: Error, Sendable, CustomStringConvertible {
    case otherRevision(Int64, expected: Int64, change: PolicyChange?)
    case overtaken
    /// So it was after somebody was asked, at this revision.
    case changedSinceReview(Int64)
    case tooManyEdits

    package var description: String {
        switch self {
        case .otherRevision(let revision, let expected, _):
            "the policy is at revision \(revision), not at \(expected)"
        case .overtaken:
            "the policy was changed by somebody else meanwhile; nothing was changed; repeat it"
        case .changedSinceReview(let revision):
            "the policy was changed by somebody else meanwhile: the review was at revision \(revision); nothing was "
                + "changed; review it again and repeat it"
        case .tooManyEdits:
            "the policy is changed by others faster than this edit can be judged; nothing was changed; repeat it later"
        }
    }
}

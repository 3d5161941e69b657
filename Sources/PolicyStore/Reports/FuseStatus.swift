package import Postgres
package import UpdatePolicy

/// The fuse of a rule: what it bears, or when it has blown.
package struct FuseStatus: Sendable {
    /// What is so about it.
    package enum State: String, Sendable {
        /// The rule is an enabled lockout.
        case armed
        /// The fuse took the lockout away, or held the ramp, and nobody has edited that since.
        case blown
        /// The rule is no enabled lockout.
        case idle
    }

    /// What an app's checks of the last ten minutes come to.
    package struct Load: Sendable {
        /// The app; nil: those that were not added.
        package let bundle: String?
        package let checks: Int64
        /// Those of them that the rule locked out.
        package let lockouts: Int64
    }

    /// The change by which it has blown.
    package struct Blow: Sendable {
        package let change: Int64
        package let at: Timestamp
        /// The figures.
        package let why: String?
    }

    /// The key of the rule.
    package let rule: String
    /// The app of the rule; nil: every app.
    package let bundle: String?
    /// The share of an app's checks that the rule may lock out.
    package let fuse: Percentage
    package let state: State
    /// What it bears of the app that is nearest to it; nil: nothing was counted.
    package let load: Load?
    package let blow: Blow?

    /// Those of all rules that have one, blown ones first, then by key.
    ///
    /// - Returns: nil where the role may not ask.
    package static func all(_ session: PostgresSession) throws -> [FuseStatus]? {
        let mayAsk = try session.query(
            "SELECT coalesce(has_function_privilege(to_regprocedure('versiongate_internal.fuse_status()'), 'EXECUTE'), false)"
        ).value(as: Bool.self)
        guard mayAsk else { return nil }
        return try session.query(
            """
            SELECT rule, bundle, (fuse * 100)::int4, status, app, checks, lockouts, change, blown_at, why
            FROM versiongate_internal.fuse_status() ORDER BY status <> 'blown', rule
            """
        ).map { try FuseStatus($0) }
    }

    private init(_ row: PostgresRow) throws {
        rule = try row.decode(0, as: String.self)
        bundle = try row.decode(1, as: String?.self)
        fuse = try Percentage(row: row, column: 2)
        state = State(rawValue: try row.decode(3, as: String.self)) ?? .idle
        let checks = try row.decode(5, as: Int64.self)
        load =
            checks == 0
            ? nil
            : Load(
                bundle: try row.decode(4, as: String?.self), checks: checks, lockouts: try row.decode(6, as: Int64.self)
            )
        blow = try row.decode(7, as: Int64?.self).map { change in
            Blow(
                change: change, at: Timestamp(try row.decode(8, as: PostgresTimestamp.self)),
                why: try row.decode(9, as: String?.self)
            )
        }
    }

    /// What is so about it, in a sentence with times in UTC.
    package var sentence: String { sentence(time: NumberText.minute) }

    /// What is so about it, in a sentence.
    ///
    /// - Parameter time: How a time is written.
    package func sentence(time: (Timestamp) -> String) -> String {
        switch state {
        case .idle: return "It does nothing until the rule locks out."
        case .blown:
            guard let blow else { return "It has blown." }
            return "It has blown at \(time(blow.at)), by change \(blow.change)"
                + (blow.why.map { ": \($0)." } ?? ".")
        case .armed:
            guard let load else { return "In the last 10 minutes nothing was counted for it." }
            return "In the last 10 minutes the rule locked out "
                + "\(NumberText.share(load.lockouts, ofChecks: load.checks)) of \(load.bundle ?? "apps that were not added")."
        }
    }
}

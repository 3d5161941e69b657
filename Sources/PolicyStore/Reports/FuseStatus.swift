package import Postgres
package import UpdatePolicy

/// The fuse of a rule: what it bears, or when it has blown.
package struct FuseStatus: Sendable, Decodable {
    /// What is so about it.
    package enum State: String, Sendable, Decodable, PostgresDecodable {
        /// The rule is an enabled lockout.
        case armed
        /// The fuse took the lockout away, or held the ramp, and nobody has edited that since.
        case blown
        /// The rule is no enabled lockout.
        case idle
    }

    /// What an app's checks of the last ten minutes come to.
    package struct Load: Sendable, Decodable {
        /// The app; nil: those that were not added.
        package let bundle: String?
        package let checks: Int64
        /// Those of them that the rule locked out.
        package let lockouts: Int64
    }

    /// The change by which it has blown.
    package struct Blow: Sendable, Decodable {
        package let change: Int64
        package let at: Timestamp
        /// The figures.
        package let why: String?
    }

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
            SELECT rule, bundle, (fuse * 100)::int4 AS fuse, status AS state,
                CASE WHEN checks > 0 THEN
                    json_build_object('bundle', app, 'checks', checks, 'lockouts', lockouts) END AS load,
                CASE WHEN change IS NOT NULL THEN
                    json_build_object('change', change, 'at', blown_at, 'why', why) END AS blow
            FROM versiongate_internal.fuse_status() ORDER BY status <> 'blown', rule
            """
        ).rows()
    }

    /// What is so about it.
    package var sentence: Sentence {
        switch state {
        case .idle: return "It does nothing until the rule locks out."
        case .blown:
            guard let blow else { return "It has blown." }
            return "It has blown at \(time: blow.at), by change \(blow.change)\(blow.why.map { ": \($0)." } ?? ".")"
        case .armed:
            guard let load else { return "In the last 10 minutes nothing was counted for it." }
            return
                "In the last 10 minutes the rule locked out \(NumberText.share(load.lockouts, ofChecks: load.checks)) of \(load.bundle ?? "apps that were not added")."
        }
    }
}

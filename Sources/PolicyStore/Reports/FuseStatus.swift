package import Postgres
package import UpdatePolicy

package struct FuseStatus: Sendable, Decodable {
    package enum State: String, Sendable, Decodable, PostgresDecodable {
        case armed
        /// The fuse took the lockout away, or held the ramp, and nobody has edited that since.
        case blown
        case idle
    }

    package struct Load: Sendable, Decodable {
        /// The app; nil: those that were not added.
        package let bundle: String?
        package let checks: Int64
        package let lockouts: Int64
    }

    package struct Blow: Sendable, Decodable {
        package let change: Int64
        package let at: Timestamp
        package let why: String?
    }

    package let rule: String
    package let bundle: String?
    /// The share of an app's checks that the rule may lock out.
    package let fuse: Percentage
    package let state: State
    /// What it bears of the app that is nearest to it; nil: nothing was counted.
    package let load: Load?
    package let blow: Blow?

    /// Those of all rules that have one, blown ones first, then by key; nil where the role may not ask.
    package static func all(_ session: PostgresSession) throws -> [FuseStatus]? {
        let mayAsk =
            "SELECT coalesce(has_function_privilege(to_regprocedure('versiongate_internal.fuse_status()'), 'EXECUTE'), false)"
        guard try session.query(mayAsk).value() else { return nil }
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

    /// When it blew, and why, after its name.
    package var blowing: Sentence {
        guard let blow else { return "has blown." }
        return "blew at \(time: blow.at) (change \(blow.change))\(blow.why.map { ": \($0)." } ?? ".")"
    }

    package var sentence: Sentence {
        switch state {
        case .idle: return "It does nothing until the rule locks out."
        case .blown: return "It \(blowing)"
        case .armed:
            guard let load else { return "In the last 10 minutes nothing was counted for it." }
            return
                "In the last 10 minutes the rule locked out \(NumberText.share(load.lockouts, ofChecks: load.checks)) of \(load.bundle ?? "apps that were not added")."
        }
    }
}

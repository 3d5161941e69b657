package import Postgres
package import UpdatePolicy

/// How many of the checks of the last ten minutes a lockout locks out, and since which change.
package struct LockoutShare: Sendable, Equatable, Decodable {
    /// The change since which the share is what it is.
    package struct Change: Sendable, Equatable, Decodable {
        package let id: Int64
        package let at: Timestamp
        package let role: String
        package let tool: String?

        package init(id: Int64, at: Timestamp, role: String, tool: String?) {
            (self.id, self.at, self.role, self.tool) = (id, at, role, tool)
        }
    }

    /// How many checks of its apps were counted since it is what it is.
    package let checks: Int64
    /// Those of them that it locked out.
    package let lockouts: Int64
    /// The part before that; nil: nothing was counted.
    package let before: Double?
    /// Whether it became what it is within a day, so that ``before`` is of the ten minutes before; else it is of the last hour.
    package let isRecent: Bool
    /// Nil: the history does not tell.
    package let change: Change?

    /// That of a rule of which nothing was counted.
    static let none = LockoutShare(checks: 0, lockouts: 0, before: nil, isRecent: false, change: nil)

    /// Those of the enabled lockouts that have not ended, by key.
    package static func all(_ session: PostgresSession) throws -> [String: LockoutShare] {
        try session.query(
            """
            SELECT rule, checks, lockouts, lockouts_before::float8 / nullif(checks_before, 0) AS before, is_recent,
                CASE WHEN change IS NOT NULL THEN
                    json_build_object('id', change, 'at', changed_at, 'role', role, 'tool', tool) END AS change
            FROM versiongate_internal.lockout_shares()
            """
        ).rows(by: "rule")
    }

    /// The part of the checks that is locked out.
    package var part: Double { checks == 0 ? 0 : Double(lockouts) / Double(checks) }

    private static let rise = 0.01

    /// Whether the share is higher than before it became what it is: by a percentage point, of checks that are not too few.
    package var hasRisen: Bool {
        guard Double(checks) >= NumberText.fewestJudged else { return false }
        guard let before = before ?? (isRecent ? 0 : nil) else { return false }
        // By itself a share goes up and down in a day.
        return part - before >= Self.rise && (isRecent || part >= 2 * before)
    }

    /// The share: `25.0 % of 400`, or `3 of 17` where they are few.
    package var text: String {
        guard checks > 0 else { return "no checks" }
        let share = NumberText.share(Double(lockouts), of: Double(checks))
        return Double(checks) < NumberText.fewestJudged ? share : "\(share) of \(NumberText.count(checks))"
    }
}

extension LockoutShare.Change {
    /// Which it is and who made it: `change 97 by night, 25 s ago`.
    package var sentence: Sentence {
        let author = tool == "fuse" || tool == "brake" ? "\(role) (\(tool ?? ""))" : role
        return "\("change \(id)", .change(id)) by \(author), \(distance: at)"
    }
}

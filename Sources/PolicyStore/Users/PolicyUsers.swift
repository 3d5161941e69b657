package import Postgres
package import UpdatePolicy

/// The roles of the database with which people and pipelines log in: members of one of versiongate's roles.
package struct PolicyUsers: Sendable {
    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// All users but superusers and the owner of the schema, who may do everything anyway; ordered by name.
    package func list() async throws -> [PolicyUser] {
        try await connection.query(
            """
            SELECT r.rolname::text AS name, \(Self.role) AS role,
                (SELECT max(c.at) FROM public.changes AS c WHERE c.role = r.rolname) AS last_edit
            FROM pg_roles AS r
            WHERE r.rolcanlogin AND NOT r.rolsuper AND r.rolname <> ALL ($1::text[])
                AND r.oid <> \(Self.owner) AND \(Self.role) IS NOT NULL
            ORDER BY r.rolname COLLATE "C"
            """,
            [UserRole.groups]
        ).rows()
    }

    package func exists(_ name: String) async throws -> Bool {
        try await connection.query("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", [name]).value()
    }

    /// Makes a user, or gives a user another role. Without a password, that of a user who exists stays as it is.
    package func add(_ name: String, role: UserRole, password: String?) async throws -> AddedUser {
        let identifier = try Self.identifier(name)
        let verifier: String? =
            if let password { try await connection.scramVerifier(ofPassword: password, user: name) } else { nil }
        // Members do not inherit the settings of a role.
        let idle = role == .planner || role == .brake ? "1min" : "5min"
        let settings = [
            "idle_in_transaction_session_timeout = '\(idle)'", "lock_timeout = '10s'", "datestyle = 'ISO, YMD'",
        ].map { "ALTER ROLE \(identifier) SET \($0);" }.joined(separator: " ")
        let statements = "CREATE ROLE \(identifier) LOGIN; GRANT \(role.group) TO \(identifier); \(settings)"
        return try await refusing(statements) { session in
            let found = try Self.present(name, session)
            if let found {
                guard found.canLogIn else {
                    throw PolicyUserError(
                        "there is already a role \(name), and nobody can log in with it; choose another name"
                    )
                }
                guard !found.isPowerful else { throw PolicyUserError.mayDoEverything(name) }
            } else {
                try session.execute("CREATE ROLE \(identifier) LOGIN")
            }
            if let verifier {
                // No parameter can stand there, and it has no quotation marks.
                precondition(verifier.allSatisfy { !"'\\".contains($0) }, "it consists of Base64 and $ and :")
                try session.execute("ALTER ROLE \(identifier) PASSWORD '\(verifier)'")
            }
            for other in UserRole.allCases
            where other != role && other != .server && found?.groups.contains(other.group) == true {
                try session.execute("REVOKE \(other.group) FROM \(identifier)")
            }
            if found?.groups.contains(role.group) != true {
                try session.execute("GRANT \(role.group) TO \(identifier)")
            }
            let given = try Self.present(name, session)?.role
            guard given == role else {
                throw try Self.grantThatStayed(to: name, except: role.group, session)
                    ?? PolicyUserError(
                        "\(name) has the rights of \(given?.group ?? "none") by another role; nothing was changed; take it out "
                            + "of that role first: SELECT roleid::regrole FROM pg_auth_members "
                            + "WHERE member = '\(name)'::regrole"
                    )
            }
            try session.execute(settings)
            return AddedUser(existed: found != nil, earlier: found?.role)
        }
    }

    /// Removes a user, whose open sessions may do nothing more from then on. The history keeps the name.
    package func remove(_ name: String) async throws {
        let identifier = try Self.identifier(name)
        try await refusing("DROP ROLE \(identifier);") { session in
            let found = try Self.present(name, session)
            guard found?.isPowerful != true else { throw PolicyUserError.mayDoEverything(name) }
            guard found?.role != nil else { throw PolicyUserError.isUnknown(name) }
            do {
                try session.execute("DROP ROLE \(identifier)")
            } catch let error as PostgresError where error.sqlState == .dependentObjectsStillExist {
                throw PolicyUserError(
                    "\(name) owns something or has rights elsewhere, so it cannot be removed: \(error.detail ?? ""); nothing "
                        + "was changed; to only take the rights here: REVOKE versiongate_viewer, versiongate_brake, "
                        + "versiongate_planner, versiongate_admin FROM \(name)"
                )
            }
        }
    }

    private func refusing<Result: Sendable>(
        _ statements: String,
        _ body: @Sendable (PostgresSession) throws -> Result
    ) async throws -> Result {
        do {
            return try await connection.transaction(.readWrite, body)
        } catch let error as PostgresError where error.sqlState == .insufficientPrivilege {
            throw PolicyUserError(
                "\(error.message); log in as a superuser, or as a role with CREATEROLE that may grant versiongate's roles, "
                    + "such as the one that migrated; or let one run: \(statements)"
            )
        }
    }

    private static func identifier(_ name: String) throws -> PostgresIdentifier {
        guard !UserRole.groups.contains(name) else {
            throw PolicyUserError(
                "\(name) is one of versiongate's own roles; choose another name, so that the history tells who it was"
            )
        }
        guard let identifier = try? PostgresIdentifier(name) else {
            throw PolicyUserError("the name of a user has 1 to 63 bytes")
        }
        return identifier
    }

    private struct Present: Decodable {
        let canLogIn: Bool
        let isPowerful: Bool
        let role: UserRole?
        let groups: [String]
    }

    private static func present(_ name: String, _ session: PostgresSession) throws -> Present? {
        try session.query(
            """
            SELECT r.rolcanlogin AS can_log_in,
                r.rolsuper OR r.rolname IN (session_user, current_user) OR pg_has_role(r.oid, \(owner), 'MEMBER')
                    AS is_powerful,
                \(role) AS role,
                ARRAY(SELECT m.roleid::regrole::text FROM pg_auth_members AS m WHERE m.member = r.oid) AS groups
            FROM pg_roles AS r WHERE r.rolname = $1
            """,
            [name]
        ).rows(as: Present.self).first
    }

    /// Says which direct membership could not be revoked: since PostgreSQL 16 a role revokes its own grants alone.
    private static func grantThatStayed(
        to name: String,
        except group: String,
        _ session: PostgresSession
    ) throws -> PolicyUserError? {
        try session.query(
            """
            SELECT m.roleid::regrole::text AS role, m.grantor::regrole::text AS grantor FROM pg_auth_members AS m
            WHERE m.member = (SELECT oid FROM pg_roles WHERE rolname = $1)
                AND m.roleid::regrole::text = ANY ($2) AND m.roleid::regrole::text <> $3
            """,
            [name, UserRole.groups, group]
        ).first.map { row in
            let (group, grantor): (String, String) = (try row.decode("role"), try row.decode("grantor"))
            return PolicyUserError(
                "\(grantor) made \(name) a member of \(group), which your role may not take back; nothing was changed; let "
                    + "\(grantor) or a superuser run: REVOKE \(group) FROM \(name) GRANTED BY \(grantor)"
            )
        }
    }

    private static let owner = "(SELECT relowner FROM pg_class WHERE oid = 'public.policy_revision'::regclass)"

    /// SQL for the role of ours with most rights that a row `r` of `pg_roles` is a member of.
    private static let role: String = {
        let cases = UserRole.byRights.map { "WHEN pg_has_role(r.oid, '\($0.group)', 'MEMBER') THEN '\($0.rawValue)'" }
        return "CASE \(cases.joined(separator: " ")) END"
    }()
}

package enum UserRole: String, Sendable, CaseIterable, Decodable, PostgresDecodable {
    case viewer
    case brake
    case planner
    case admin
    /// Reads the policy and writes counts: for servers, not for people.
    case server
    package var group: String { "versiongate_\(rawValue)" }

    /// Those with most rights first.
    fileprivate static let byRights: [UserRole] = [.admin, .planner, .brake, .viewer, .server]
    fileprivate static let groups = allCases.map(\.group)
}

package struct PolicyUser: Sendable, Hashable, Decodable {
    package let name: String
    package let role: UserRole
    package let lastEdit: Timestamp?
}

package struct AddedUser: Sendable, Hashable {
    package let existed: Bool
    package let earlier: UserRole?
}

package struct PolicyUserError: Error, CustomStringConvertible {
    package let description: String

    fileprivate init(_ description: String) { self.description = description }

    fileprivate static func mayDoEverything(_ name: String) -> Self {
        Self(
            "\(name) is a superuser, the owner of the schema, or the role that you are logged in with, and stays as it is"
        )
    }

    package static func isUnknown(_ name: String) -> Self {
        Self("there is no user \(name); `\(PrintedCommand("user list"))` lists the users")
    }
}

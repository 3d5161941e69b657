package import Postgres

/// The names in the database that complete a word on a command line.
package enum KnownNames {
    /// How many changes are offered.
    private static let mostChanges = 50

    /// The numbers of the newest changes.
    package static func changes(_ session: PostgresSession) throws -> [String] {
        try texts(session, "SELECT id::text FROM public.changes ORDER BY id DESC LIMIT \(mostChanges)")
    }

    /// The roles and users of the operating system that have edited.
    package static func authors(_ session: PostgresSession) throws -> [String] {
        try texts(
            session,
            "SELECT DISTINCT name FROM public.changes, unnest(ARRAY[role, os_user]) AS name WHERE name <> '' ORDER BY 1"
        )
    }

    /// The users with one of the roles of people.
    package static func users(_ session: PostgresSession) throws -> [String] {
        try texts(
            session,
            """
            SELECT DISTINCT member.rolname::text FROM pg_auth_members AS given
                JOIN pg_roles AS member ON member.oid = given.member JOIN pg_roles AS role ON role.oid = given.roleid
            WHERE member.rolcanlogin
                AND role.rolname IN ('versiongate_viewer', 'versiongate_brake', 'versiongate_planner', 'versiongate_admin')
            ORDER BY 1
            """
        )
    }

    /// The platforms of releases.
    package static func platforms(_ session: PostgresSession) throws -> [String] {
        try texts(session, "SELECT DISTINCT platform FROM public.releases ORDER BY 1")
    }

    /// The versions of the releases of the apps among some words.
    package static func versions(ofAppsAmong words: [String], _ session: PostgresSession) throws -> [String] {
        try texts(
            session,
            "SELECT DISTINCT version FROM public.releases WHERE bundle = ANY (string_to_array($1, E'\\n')) ORDER BY 1",
            [words.joined(separator: "\n")]
        )
    }

    /// The templates of the apps among some words.
    package static func templates(ofAppsAmong words: [String], _ session: PostgresSession) throws -> [String] {
        try texts(
            session,
            "SELECT DISTINCT name FROM public.feed_templates WHERE bundle = ANY (string_to_array($1, E'\\n')) ORDER BY 1",
            [words.joined(separator: "\n")]
        )
    }

    private static func texts(_ session: PostgresSession, _ query: String, _ values: [String] = []) throws -> [String] {
        try session.query(query, values).map { try $0.decode(0, as: String.self) }
    }
}

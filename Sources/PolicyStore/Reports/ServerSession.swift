// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres

/// A server that follows the policy of a database, as it names itself in `application_name`.
///
/// Every role can read that of every session. Sessions on a standby are seen on that standby alone.
public struct ServerSession: Sendable, Hashable {
    /// The process of the database that serves the session.
    public let processID: Int32
    /// The machine of the server, as it calls itself.
    public let host: String
    /// The revision of the policy that answers checks.
    public let revision: Int64

    /// What stands between the program and the revision.
    private static let mark = " at revision "
    /// How much of the name of the program is kept.
    private static let longestProgram = 20
    /// The longest `application_name`.
    private static let longestName = 63

    /// Announces the revision that answers checks, if this session does not already.
    ///
    /// The name that the session began with stays in front.
    ///
    /// - Throws: `PostgresError`.
    public static func announce(_ revision: Int64, host: String, over connection: PostgresConnection) async throws {
        let present = await connection.reportedSetting("application_name") ?? ""
        let program = present.firstRange(of: mark).map { present[..<$0.lowerBound] } ?? present[...]
        let machine = host.filter { $0.isASCII && !$0.isWhitespace }
        let name = String("\(program.prefix(longestProgram))\(mark)\(revision) on \(machine)".prefix(longestName))
        guard name != present else { return }
        try await connection.query("SELECT set_config('application_name', $1, false)", [name])
    }

    /// The servers that are connected to the database of a session, by machine.
    static func all(_ session: PostgresSession) throws -> [ServerSession] {
        try session.query(
            """
            SELECT pid, substring(application_name FROM '\(mark)[0-9]+ on (.*)$'),
                substring(application_name FROM '\(mark)([0-9]+) on ')::int8
            FROM pg_stat_activity
            WHERE datname = current_database() AND application_name ~ '\(mark)[0-9]{1,18} on '
            ORDER BY 2, 1
            """
        ).map { row in
            ServerSession(
                processID: try row.decode(0, as: Int32.self),
                host: try row.decode(1, as: String?.self) ?? "",
                revision: try row.decode(2, as: Int64.self)
            )
        }
    }
}

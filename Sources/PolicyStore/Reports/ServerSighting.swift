package import Postgres
package import UpdatePolicy

/// A server that was heard of, as it is noted beside its counts.
package struct ServerSighting: Sendable, Hashable, Decodable {
    /// The machine of the server, as it calls itself, with the port of its public listener: `gate-1:8080`.
    package let name: String
    /// Where its connection came from; `nil`: the machine of the database.
    package let address: String?
    package let revision: Int64
    package let seenAt: Timestamp

    /// The longest name that is kept; of a longer one the end.
    private static let longestName = 128

    /// Notes that a server is there.
    package static func note(_ name: String, revision: Int64, over connection: PostgresConnection) async throws {
        let name = String(name.filter { $0.isASCII && !$0.isWhitespace }.suffix(longestName))
        try await connection.query("SELECT versiongate_internal.note_server($1, $2)", [name, revision])
    }

    /// The servers that were heard of in the last hour and not in the last 2 minutes, and are not connected.
    ///
    /// Within 2 minutes one is heard of again, also one behind a pooler or at a standby, which no session here names.
    static func gone(_ present: [ServerSession], _ session: PostgresSession) throws -> [ServerSighting] {
        try session.query(
            """
            SELECT name, host(address) AS address, revision, seen_at FROM versiongate_internal.server_sightings
            WHERE seen_at BETWEEN now() - interval '1 hour' AND now() - interval '2 minutes'
                AND NOT EXISTS (SELECT FROM unnest($1::text[]) AS present WHERE right(name, length(present)) = present)
            ORDER BY seen_at DESC, name
            """,
            [present.map(\.address).filter { !$0.isEmpty }]
        ).rows()
    }
}

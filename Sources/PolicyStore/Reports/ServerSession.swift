package import Postgres
package import UpdatePolicy

/// A server that follows the policy of a database, as it names itself in `application_name`. Every role can read that of
/// every session. Sessions on a standby are seen on that standby alone.
package struct ServerSession: Sendable, Hashable {
    package let processID: Int32
    /// The machine of the server, as it calls itself, with the port of its public listener: `gate-1:8080`.
    package let address: String
    package let revision: Int64
    /// The seconds that its clock is ahead of that of the database; 0 where that is not worth a report.
    package let clockOffset: Int

    /// That its clock is off, in a sentence without its end; nil: it is not.
    package var clockSentence: String? {
        guard clockOffset != 0 else { return nil }
        let difference = DatabaseClock.difference(seconds: Double(clockOffset))
        return "the clock of the server \(address.visible()) is \(difference)"
            + " that of the database; what begins or ends does so by that of the server"
    }

    package let faults: [Fault]

    package var isBraked: Bool { faults.contains(.brake) || faults.contains(.revision) }

    /// Which of some servers send every lockout as a plain message, in a sentence without its end; nil: none.
    package static func brake(of servers: [ServerSession]) -> String? {
        let braked = servers.filter(\.isBraked)
        guard !braked.isEmpty else { return nil }
        let which = servers.count == 1 ? "the server" : "\(braked.count) of \(servers.count) servers"
        let names = braked.map(\.address).joined(separator: ", ")
        return "\(which) (\(names)) \(braked.count == 1 ? "sends" : "send") every lockout as a plain message, because"
            + " of the brake or of a revision that is held back"
    }

    /// Something that a server says is broken on its machine; its `/ready` says more.
    package enum Fault: String, Sendable, CaseIterable {
        case certificate
        case disk
        case brake
        case key
        case revision
        case counts

        /// The word is for the name of a session, where there is little room.
        fileprivate var texts: (word: String, sentence: String) {
            switch self {
            case .certificate: ("cert", "apps may refuse its certificate")
            case .disk: ("disk", "it cannot keep the policy on its disk")
            case .brake: ("lockouts", "its brake is on: lockouts are sent as plain messages")
            case .key: ("key", "it cannot read its lockout key")
            case .revision:
                ("rev", "it holds back a revision by which servers ended, and sends lockouts as plain messages")
            case .counts: ("counts", "it counts no checks, so no fuse blows by what it answers")
            }
        }

        package var sentence: String { texts.sentence }
    }

    package struct Description: Sendable {
        private let text: String
        private let address: String

        /// - Parameter databaseClockOffset: How many seconds the clock of the database is ahead of that of the machine.
        package init(revision: Int64, address: String, databaseClockOffset: Double, faults: [Fault]) {
            let seconds = Int(-databaseClockOffset.rounded())
            let isOff = abs(databaseClockOffset) > DatabaseClock.tolerance
            let remarks =
                (isOff ? ["clock \(seconds > 0 ? "+" : "")\(seconds) s"] : []) + faults.map { "no \($0.texts.word)" }
            text = ServerSession.mark + (["\(revision)"] + remarks).joined(separator: ", ") + " on "
            self.address = address.filter { $0.isASCII && !$0.isWhitespace }
        }

        /// Announces it where it is new. The name that the session began with stays in front, where there is room.
        package func make(over connection: PostgresConnection) async throws {
            let present = await connection.reportedSetting("application_name") ?? ""
            let program = present.firstRange(of: ServerSession.mark).map { present[..<$0.lowerBound] } ?? present[...]
            let name = ServerSession.name(program: program, text, address)
            guard name != present else { return }
            try await connection.query("SELECT set_config('application_name', $1, false)", [name])
        }
    }

    private static let mark = " at revision "

    /// What a server calls itself: as much of it as an `application_name` holds, the end of its address first.
    static func name(program: some StringProtocol, _ text: String, _ address: String) -> String {
        let (longestName, longestProgram, firstOfAddress) = (63, 20, 24)
        let room = max(0, longestName - text.utf8.count)
        let program = program.prefix(min(longestProgram, room - min(room, firstOfAddress, address.utf8.count)))
        return "\(program)\(text)\(address.suffix(room - program.utf8.count))"
    }

    package static func all(_ session: PostgresSession) throws -> [ServerSession] {
        let faults = Fault.allCases.map(\.texts.word).joined(separator: "|")
        return try session.query(
            """
            SELECT pid, words[4] AS address, words[1]::int8 AS revision, coalesce(words[2]::int8, 0) AS clock, words[3] AS faults
            FROM pg_stat_activity, regexp_match(
                application_name,
                '\(mark)([0-9]{1,18})(?:, clock ([+-][0-9]{1,17}) s)?((?:, no (?:\(faults)))*) on (.*)$'
            ) AS words
            WHERE datname = current_database() AND words IS NOT NULL
            ORDER BY 2, 1
            """
        ).map { row in
            let said = try row.decode("faults", as: String?.self) ?? ""
            return ServerSession(
                processID: try row.decode("pid"), address: try row.decode("address"),
                revision: try row.decode("revision"), clockOffset: try row.decode("clock"),
                faults: Fault.allCases.filter { said.contains("no \($0.texts.word)") }
            )
        }
    }
}

package struct ServerHeartbeat: Sendable, Hashable, Decodable {
    package let name: String
    /// Where its connection came from; `nil`: the machine of the database.
    package let address: String?
    package let revision: Int64
    package let seenAt: Timestamp

    /// Notes that a server is there; of a name the last 128 characters.
    package static func note(_ name: String, revision: Int64, over connection: PostgresConnection) async throws {
        let name = String(name.filter { $0.isASCII && !$0.isWhitespace }.suffix(128))
        try await connection.query("SELECT versiongate_internal.note_server($1, $2)", [name, revision])
    }

    /// The servers that were heard of in the last hour and are not connected. Within 2 minutes one is heard of again, also
    /// one behind a pooler or at a standby, which no session here names.
    static func gone(_ present: [ServerSession], _ session: PostgresSession) throws -> [ServerHeartbeat] {
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

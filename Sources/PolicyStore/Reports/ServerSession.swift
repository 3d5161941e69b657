package import Postgres
import UpdatePolicy

/// A server that follows the policy of a database, as it names itself in `application_name`.
///
/// Every role can read that of every session. Sessions on a standby are seen on that standby alone.
package struct ServerSession: Sendable, Hashable {
    /// The process of the database that serves the session.
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

    /// Whether it sends every lockout as a plain message.
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
        /// The TLS certificate has expired, or cannot be read again.
        case certificate
        /// The policy cannot be kept on disk.
        case disk
        /// The brake is on.
        case brake
        /// The key that signs lockouts cannot be read.
        case key
        /// The newest revision is held back, because servers ended by it.
        case revision
        /// It counts no checks, and there are fuses.
        case counts

        /// What a session says of it, where there is little room.
        fileprivate var word: String {
            switch self {
            case .certificate: "cert"
            case .disk: "disk"
            case .brake: "lockouts"
            case .key: "key"
            case .revision: "rev"
            case .counts: "counts"
            }
        }

        /// The fault, for people.
        package var sentence: String {
            switch self {
            case .certificate: "apps may refuse its certificate"
            case .disk: "it cannot keep the policy on its disk"
            case .brake: "its brake is on: lockouts are sent as plain messages"
            case .key: "it cannot read its lockout key"
            case .revision: "it holds back a revision by which servers ended, and sends lockouts as plain messages"
            case .counts: "it counts no checks, so no fuse blows by what it answers"
            }
        }
    }

    /// The description of a server in the name of its session.
    package struct Description: Sendable {
        private let text: String
        private let address: String

        /// - Parameters:
        ///   - address: The machine of the server and its port; of a long one the end is kept.
        ///   - databaseClockOffset: How many seconds the clock of the database is ahead of that of the machine.
        package init(revision: Int64, address: String, databaseClockOffset: Double, faults: [Fault]) {
            let seconds = Int(-databaseClockOffset.rounded())
            let isOff = abs(databaseClockOffset) > DatabaseClock.tolerance
            let remarks =
                (isOff ? ["clock \(seconds > 0 ? "+" : "")\(seconds) s"] : []) + faults.map { "no \($0.word)" }
            text = ServerSession.mark + (["\(revision)"] + remarks).joined(separator: ", ") + " on "
            self.address = address.filter { $0.isASCII && !$0.isWhitespace }
        }

        /// Announces it, if this session has not already. The name that the session began with stays in front, where there is room.
        package func make(over connection: PostgresConnection) async throws {
            let present = await connection.reportedSetting("application_name") ?? ""
            let program = present.firstRange(of: ServerSession.mark).map { present[..<$0.lowerBound] } ?? present[...]
            let name = ServerSession.name(program: program, text, address)
            guard name != present else { return }
            try await connection.query("SELECT set_config('application_name', $1, false)", [name])
        }
    }

    /// The text between the program and the revision.
    private static let mark = " at revision "
    /// The length to which the name of the program is kept.
    private static let longestProgram = 20
    /// How much of an address stands before the name of the program.
    private static let firstOfAddress = 24
    /// The longest `application_name`.
    private static let longestName = 63

    /// What a server calls itself: as much of it as an `application_name` holds, the end of its address first.
    static func name(program: some StringProtocol, _ text: String, _ address: String) -> String {
        let room = max(0, longestName - text.utf8.count)
        let program = program.prefix(min(longestProgram, room - min(room, firstOfAddress, address.utf8.count)))
        return "\(program)\(text)\(address.suffix(room - program.utf8.count))"
    }

    /// The servers that are connected to the database of a session, by machine.
    package static func all(_ session: PostgresSession) throws -> [ServerSession] {
        let faults = Fault.allCases.map(\.word).joined(separator: "|")
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
            ServerSession(
                processID: try row.decode("pid"), address: try row.decode("address"),
                revision: try row.decode("revision"),
                clockOffset: try row.decode("clock"),
                faults: try row.decode("faults", as: String?.self).map { said in
                    Fault.allCases.filter { said.contains("no \($0.word)") }
                } ?? []
            )
        }
    }
}

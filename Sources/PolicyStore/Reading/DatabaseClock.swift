package import Postgres
package import UpdatePolicy

package struct DatabaseClock: Sendable {
    package let now: Timestamp
    /// How many seconds it is ahead of this machine at least, negative where it is behind; the time that the question took
    /// is not counted as a difference.
    package let offset: Double
    package static let tolerance = 2.0

    package var isOff: Bool { abs(offset) > Self.tolerance }

    /// How far a clock is from another one: `2 h ahead of`.
    package static func difference(seconds: Double) -> String {
        let length = NumberText.duration(microseconds: Int64(abs(seconds) * 1_000_000))
        return "\(length) \(seconds < 0 ? "behind" : "ahead of")"
    }

    init(now: Timestamp, asked: Timestamp, answered: Timestamp) {
        self.now = now
        let behind = now.microsecondsSince1970 - answered.microsecondsSince1970
        let ahead = now.microsecondsSince1970 - asked.microsecondsSince1970
        offset = Double(behind > 0 ? behind : ahead < 0 ? ahead : 0) / 1_000_000
    }

    package init(_ session: PostgresSession, machine: () -> Timestamp) throws {
        let asked = machine()
        let now: Timestamp = try session.query("SELECT clock_timestamp()").value()
        self.init(now: now, asked: asked, answered: machine())
    }

    package enum Unreadable: Error {
        case zone, day, text
    }

    /// Reads a time as PostgreSQL does in a time zone, in which the session does not stay.
    package static func read(_ text: String, inZone zone: String, _ session: PostgresSession) throws -> Timestamp {
        let set = "SELECT set_config('TimeZone', $1, false)"
        let before = try session.query("SELECT current_setting('TimeZone')").value(as: String.self)
        var isInZone = false
        do throws(any Error) {
            try session.query(set, [zone])
            isInZone = true
            let time = try session.query("SELECT $1::timestamptz", [text]).value(as: Timestamp.self)
            try session.query(set, [before])
            return time
        } catch let error as PostgresError where error.sqlState?.isDataException == true || error.code == .decoding {
            guard isInZone else { throw Unreadable.zone }
            throw error.sqlState == .datetimeFieldOverflow ? Unreadable.day : Unreadable.text
        }
    }
}

package import Postgres
package import UpdatePolicy

/// The clock of a database, read beside that of this machine.
package struct DatabaseClock: Sendable {
    /// The time of the database.
    package let now: Timestamp
    /// How many seconds it is ahead of this machine at least, negative where it is behind; the time that the question took
    /// is not counted as a difference.
    package let offset: Double

    /// The seconds from which on a difference is reported.
    package static let tolerance = 2.0

    /// Whether the clocks differ enough to be reported.
    package var isOff: Bool { abs(offset) > Self.tolerance }

    /// How far a clock is from another one: `2 h ahead of`.
    package static func difference(seconds: Double) -> String {
        let length = NumberText.duration(microseconds: Int64(abs(seconds) * 1_000_000))
        return "\(length) \(seconds < 0 ? "behind" : "ahead of")"
    }

    /// Compares a time of the database, read between two times of this machine.
    init(now: Timestamp, asked: Timestamp, answered: Timestamp) {
        self.now = now
        let behind = now.microsecondsSince1970 - answered.microsecondsSince1970
        let ahead = now.microsecondsSince1970 - asked.microsecondsSince1970
        offset = Double(behind > 0 ? behind : ahead < 0 ? ahead : 0) / 1_000_000
    }

    /// Asks the database.
    ///
    /// - Parameter machine: The clock of this machine.
    package init(_ session: PostgresSession, machine: () -> Timestamp) throws {
        let asked = machine()
        let now = try session.query("SELECT clock_timestamp()").value(as: PostgresTimestamp.self)
        self.init(now: Timestamp(now), asked: asked, answered: machine())
    }
}

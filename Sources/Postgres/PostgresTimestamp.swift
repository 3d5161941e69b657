/// A point in time as `timestamp with time zone` holds it: whole microseconds, no zone.
public struct PostgresTimestamp: Sendable, Hashable {
    /// Microseconds since 1970-01-01 00:00:00 UTC, leap seconds not counted; negative before it.
    public var microsecondsSince1970: Int64

    /// Takes microseconds since 1970-01-01 00:00:00 UTC.
    public init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// PostgreSQL counts from 2000-01-01 00:00:00 UTC, this many microseconds after 1970.
    static let epochOffset: Int64 = 946_684_800_000_000

    /// 4714-11-24 00:00:00 BC, the first moment that PostgreSQL can hold, in its own count.
    static let firstSince2000: Int64 = -211_813_488_000_000_000
}

extension PostgresTimestamp: Comparable {
    /// Whether the left moment is before the right one.
    public static func < (left: Self, right: Self) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }
}

extension PostgresTimestamp: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    /// `timestamp with time zone`.
    public static var postgresType: PostgresType { .timestamptz }
    /// `timestamp with time zone[]`.
    public static var postgresArrayType: PostgresType { .timestamptzArray }

    /// Writes the microseconds since 2000. Moments before 4714 BC are refused.
    public func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        let (value, overflow) = microsecondsSince1970.subtractingReportingOverflow(Self.epochOffset)
        guard !overflow, value >= Self.firstSince2000 else {
            throw PostgresError(.encoding, "a timestamp is before 4714 BC, the first year that PostgreSQL can hold")
        }
        encoder.append(value)
    }

    /// Reads a `timestamp with time zone`. `infinity`, `-infinity` and moments after the year 294246 are refused.
    public init(from cell: PostgresCell) throws(PostgresError) {
        let value = try cell.integer(Int64.self, of: .timestamptz, wanted: "a timestamp")
        if value == .max || value == .min {
            throw cell.error("it is \(value == .max ? "infinity" : "-infinity"), which is no point in time")
        }
        let (sum, overflow) = value.addingReportingOverflow(Self.epochOffset)
        guard !overflow else {
            throw cell.error("it is after the year 294246, more microseconds since 1970 than 64 bits hold")
        }
        self.init(microsecondsSince1970: sum)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A moment in time, in whole microseconds.
///
/// Microseconds are what PostgreSQL keeps, so a time from the database loses nothing here.
public struct Timestamp: Sendable, Hashable {
    /// Microseconds since 1970-01-01T00:00:00Z, negative before it; leap seconds do not count.
    public let microsecondsSince1970: Int64

    /// A moment so many microseconds after (or before) 1970-01-01T00:00:00Z.
    public init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// A moment so many seconds after (or before) 1970-01-01T00:00:00Z.
    ///
    /// Seconds beyond what microseconds in 64 bits can hold (some 292,000 years) become the last moment that can be held.
    public init(secondsSince1970: Int64) {
        let (product, overflow) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000)
        microsecondsSince1970 = overflow ? (secondsSince1970 < 0 ? .min : .max) : product
    }

    /// The moment that lies `microseconds` later; earlier where that is negative.
    public func advanced(byMicroseconds microseconds: Int64) -> Timestamp {
        let (sum, overflow) = microsecondsSince1970.addingReportingOverflow(microseconds)
        return Timestamp(microsecondsSince1970: overflow ? (microseconds < 0 ? .min : .max) : sum)
    }
}

extension Timestamp: Comparable {
    /// Whether one moment is earlier than the other.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }
}

package import UpdatePolicy

/// The checks of one version of an app on one platform in one day.
package struct PeriodCount: Sendable {
    /// When the day begins, in UTC.
    package let start: Timestamp
    /// The platform; nil: not sent.
    package let platform: String?
    /// The version as clients sent it; nil: not sent.
    package let version: String?
    /// How many checks.
    package let checks: Int64
    /// Those that were answered with a message.
    package let messages: Int64
    /// Those that were answered with a lockout.
    package let lockouts: Int64
}

import PolicyStore
import UpdatePolicy

/// Decides whether what the database says about its revision is a reason to load the policy.
///
/// The token decides, not the number: a database that was restored from a dump and edited again can stand at the same
/// revision with other contents. A lower revision on a standby is usually one that lags behind, so it is believed only
/// after it stood still for a while. A primary does not lag: there, edits were lost in a failover, or a dump is being
/// restored, and those that are made from now on must be seen. Revision 0 is a schema in which nothing was ever edited:
/// the moment before a dump is restored, or another database than the one that is meant. It is taken in the end, so that
/// somebody who means to begin anew need not restart the servers.
struct ReloadDecision {
    /// How long a lower revision must stand still on a standby before it is taken.
    static let lowerRevisionMustStandMicroseconds: Int64 = 30_000_000
    /// How long a primary must be at lower revisions before they are taken.
    static let primaryMustBeLowerMicroseconds: Int64 = 2_000_000
    /// How long a database in which nothing was ever edited must be there before it is taken in place of a policy.
    static let uneditedMustStandMicroseconds: Int64 = 300_000_000

    private var answering: PolicyVersion?
    private var rejected: PolicyVersion?
    private var lower: Lower?

    private struct Lower {
        let version: PolicyVersion
        let isOnPrimary: Bool
        let since: Timestamp
    }

    enum Verdict: Equatable {
        /// Nothing: its policy is the one that answers.
        case upToDate
        case load
        case wait
        /// Ask whether the database is a primary, and judge again.
        case mustKnowPrimary
    }

    /// Judges the version that the database was seen at.
    ///
    /// - Parameters:
    ///   - earlier: What answers, or is about to, while nothing was loaded from the database.
    ///   - isPrimary: Whether the database is a primary; nil: not known. It counts only where the revision is lower.
    mutating func verdict(
        on version: PolicyVersion,
        inPlaceOf earlier: PolicyVersion? = nil,
        at now: Timestamp,
        isPrimary: Bool?
    ) -> Verdict {
        if version.token == answering?.token || version.token == rejected?.token {
            lower = nil
            return version.token == answering?.token ? .upToDate : .wait
        }
        guard let before = answering ?? earlier, version.revision < before.revision else {
            lower = nil
            return .load
        }
        guard let isOnPrimary = isPrimary else { return .mustKnowPrimary }
        guard let lower, lower.isOnPrimary == isOnPrimary, isOnPrimary || lower.version.token == version.token else {
            lower = Lower(version: version, isOnPrimary: isOnPrimary, since: now)
            return .wait
        }
        let wait =
            version.revision == 0
            ? Self.uneditedMustStandMicroseconds
            : isOnPrimary ? Self.primaryMustBeLowerMicroseconds : Self.lowerRevisionMustStandMicroseconds
        return now.microsecondsSince1970 - lower.since.microsecondsSince1970 >= wait ? .load : .wait
    }

    /// When a database in which nothing was ever edited is taken if it stays so; nil where none is waited for.
    func takesUnedited(_ version: PolicyVersion) -> Timestamp? {
        guard version.revision == 0, let lower else { return nil }
        return lower.since.advanced(byMicroseconds: Self.uneditedMustStandMicroseconds)
    }

    mutating func loaded(_ version: PolicyVersion) {
        answering = version
        rejected = nil
        lower = nil
    }

    /// Notes that this version cannot be compiled, which trying again would not change.
    mutating func rejected(_ version: PolicyVersion) {
        rejected = version
    }
}

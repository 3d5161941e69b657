import FoundationEssentials
import UpdatePolicy

extension Timestamp {
    /// The time of the system clock.
    static func now() -> Timestamp {
        Timestamp(microsecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
    }
}

public import Foundation

/// What a check did, for the observer of a gate. Checks that share one question are one.
public struct CheckReport: Sendable, Equatable {
    /// Whether the server was asked.
    public enum Outcome: Sendable {
        /// A question was sent, or tried.
        case asked
        /// It was too early for a question, so what was kept counts.
        case kept
    }

    /// Whether the server was asked.
    public let outcome: Outcome
    /// The status of HTTP, if the server answered.
    public let status: Int?
    /// Why the check has failed; nil if it has not.
    public let fault: String?
    /// How long the check took.
    public let duration: TimeInterval
    /// How many messages it gave.
    public let messages: Int
}

/// Asking again and again, where no event announces an answer.
public enum Poll {
    /// The wait came to ``Patience/limit``.
    public struct TimedOut: Error, CustomStringConvertible {
        /// What was waited for.
        public let description: String
    }

    /// Returns when the answer is yes.
    ///
    /// The pause between two questions leaves the processor to what is waited for; no outcome depends on it.
    ///
    /// - Parameters:
    ///   - what: What is waited for.
    ///   - isTrue: The question.
    /// - Throws: What the question throws, or ``TimedOut`` at ``Patience/limit``.
    public static func until(
        _ what: @autoclosure () -> String,
        _ isTrue: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + Patience.limit
        while try await !isTrue() {
            guard ContinuousClock.now < end else { throw TimedOut(description: "waited in vain for \(what())") }
            try await Task.sleep(for: .milliseconds(3))
        }
    }
}

import PolicyStore

/// Decides about counts that could not be written: they are kept for one more attempt, then dropped.
///
/// So a restart of the database loses no counts, and memory stays bounded during a long outage. A batch that may have been
/// written is never written again: a count that is too low does less harm than one that is too high.
struct CountBacklog: Sendable {
    /// How an attempt to write ended.
    enum Outcome: Sendable {
        case written
        /// Nothing was written.
        case notWritten
        /// The connection was lost during the commit.
        case unknown
    }

    private var kept = CountBatch()
    private var fresh = CountBatch()

    /// The batch to write now.
    ///
    /// - Parameter counts: What was counted since the attempt before.
    mutating func nextBatch(adding counts: CountBatch) -> CountBatch {
        fresh = counts
        var batch = kept
        batch.append(fresh)
        return batch
    }

    /// Notes how writing the batch ended.
    ///
    /// - Parameter isLast: Whether there will be no other attempt.
    /// - Returns: How many checks are dropped.
    mutating func attemptEnded(_ outcome: Outcome, isLast: Bool) -> Int {
        defer { fresh = CountBatch() }
        switch outcome {
        case .written:
            kept = CountBatch()
            return 0
        case .notWritten where !isLast:
            let dropped = kept.totalChecks
            kept = fresh
            return dropped
        case .notWritten, .unknown:
            let dropped = kept.totalChecks + fresh.totalChecks
            kept = CountBatch()
            return dropped
        }
    }
}

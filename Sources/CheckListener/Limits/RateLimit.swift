/// How often an address may ask.
package struct RateLimit: Hashable, Sendable {
    /// Checks a second in the long run: more than 0, at most 1,000,000.
    package let perSecond: Double
    /// How many may come at once after a pause: 1 to 1,000,000.
    package let burst: Int

    /// Creates a rate; both numbers must be within their bounds.
    package init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// Reads `PER_SECOND` or `PER_SECOND:BURST`; without a burst it is the rate, rounded up.
    ///
    /// - Throws: ``LimitSyntaxError`` with what was written and what may be.
    package init(parsing text: String) throws(LimitSyntaxError) {
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let perSecond = halves.first.flatMap({ Double($0) }), perSecond >= 0.001, perSecond <= 1_000_000 else {
            throw Self.fault(text)
        }
        self.perSecond = perSecond
        guard halves.count > 1 else {
            burst = Int(perSecond.rounded(.up))
            return
        }
        guard let burst = Int(halves[1]), (1...1_000_000).contains(burst) else {
            throw Self.fault(text)
        }
        self.burst = burst
    }

    private static func fault(_ text: String) -> LimitSyntaxError {
        LimitSyntaxError(
            "\"\(text)\" is not a rate; write PER_SECOND, from 0.001 to 1000000, or PER_SECOND:BURST with a whole burst "
                + "from 1 to 1000000, such as 5:20"
        )
    }

    /// The time in which one check is earned, in nanoseconds.
    var interval: Int64 { Int64((1e9 / perSecond).rounded()) }
}

/// A rate or a list of proxies that cannot be read.
package struct LimitSyntaxError: Error, CustomStringConvertible {
    /// What was written, and what may be.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

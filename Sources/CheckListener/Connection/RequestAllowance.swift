/// How many requests a connection has made of those that it may.
struct RequestAllowance {
    /// How many requests in a row a connection may be refused for asking too often; the last refusal ends it.
    private static let maximumRefusals = 16

    private let maximum: Int
    private var refusalsInARow = 0
    /// How many requests there were.
    private(set) var count = 0

    /// Creates the allowance of a connection that has just been opened.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Whether the last request was the last one that is answered.
    var isUsedUp: Bool { count >= maximum || refusalsInARow >= Self.maximumRefusals }

    /// Counts a request.
    ///
    /// - Parameter isTooOften: Whether its client asks too often.
    mutating func take(isTooOften: Bool) {
        count += 1
        refusalsInARow = isTooOften ? refusalsInARow + 1 : 0
    }
}

import PolicyStore

/// What checks were answered since the start, for metrics.
///
/// The totals grow when counts are taken from the recorders, so they cost a check nothing.
struct AnswerTotals: Sendable {
    private(set) var nothing = 0
    /// Checks that were sent messages and not locked out.
    private(set) var message = 0
    private(set) var lockout = 0
    private(set) var messagesByRule = RuleTotals()
    private(set) var lockoutsByRule = RuleTotals()

    /// Adds what was counted since the previous call.
    mutating func add(_ batch: CountBatch) {
        for counts in batch.checks {
            nothing += counts.checks - counts.messages
            message += counts.messages - counts.lockouts
            lockout += counts.lockouts
        }
        var messages: [String: Int] = [:]
        var lockouts: [String: Int] = [:]
        for counts in batch.rules {
            messages[counts.rule, default: 0] += counts.sent
            lockouts[counts.rule, default: 0] += counts.lockouts
        }
        messagesByRule.add(messages)
        lockoutsByRule.add(lockouts)
    }
}

/// Totals by rule: those of the first rules that counted, and the rest together, so that a total never falls.
struct RuleTotals: Sendable, Equatable {
    /// How many rules have a total of their own.
    static let places = 100

    private(set) var rules: [String: Int] = [:]
    private(set) var other = 0

    /// Adds numbers by the keys of rules; of those that come together, those with the most have the first places.
    mutating func add(_ numbers: [String: Int]) {
        let sorted = numbers.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        for (rule, number) in sorted {
            if rules[rule] != nil || rules.count < Self.places {
                rules[rule, default: 0] += number
            } else {
                other += number
            }
        }
    }
}

import CheckListener
import PolicyStore
import UpdatePolicy

/// What checks were answered since the start, for metrics.
///
/// The totals grow when counts are taken from the recorders, so they cost a check nothing.
struct AnswerTotals: Sendable {
    /// Checks that were answered without a message.
    private(set) var nothing = 0
    /// Checks that were sent messages and not locked out.
    private(set) var message = 0
    /// Checks that were locked out.
    private(set) var lockout = 0
    /// Messages by rule.
    private(set) var messagesByRule = RuleTotals()
    /// Lockouts by rule.
    private(set) var lockoutsByRule = RuleTotals()

    /// Adds what was counted since the previous call.
    mutating func add(_ batch: CountBatch, at now: Timestamp) {
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
        let hour = HourlyCounts.hour(of: now)
        messagesByRule.add(messages, hour: hour)
        lockoutsByRule.add(lockouts, hour: hour)
    }
}

/// Totals by rule: those of a bounded number of rules, and the rest together.
///
/// A rule has its total from when it takes a place until it loses it, so a total never falls. Who counts most in this hour
/// and the one before has a place: a rule without one takes that of the rule with the least as soon as it has more than
/// twice as much, so that two like rules do not take turns. A rule that sends nothing any more keeps its place until
/// another needs it. What was counted without a place stays in ``other``.
struct RuleTotals: Sendable, Equatable {
    /// How many rules have a place.
    static let places = 100

    /// The totals of the rules that have a place, by their keys.
    private(set) var rules: [String: Int] = [:]
    /// The total of all other rules.
    private(set) var other = 0

    private var hour = Int64.min
    /// What was counted in this hour and in the one before. The recorders keep the same rules for as long, so no more memory
    /// is taken than there.
    private var current: [String: Int] = [:]
    private var previous: [String: Int] = [:]

    /// Adds numbers by the keys of rules, in an hour that is counted from 1970.
    mutating func add(_ numbers: [String: Int], hour now: Int64) {
        if now != hour {
            previous = now == hour &+ 1 ? current : [:]
            current = [:]
            hour = now
        }
        var newcomers: [(rule: String, number: Int)] = []
        for (rule, number) in numbers where number > 0 {
            current[rule, default: 0] += number
            if rules[rule] != nil {
                rules[rule, default: 0] += number
            } else {
                newcomers.append((rule, number))
            }
        }
        newcomers.sort { (recent($1.rule), $0.rule) < (recent($0.rule), $1.rule) }
        for (rule, number) in newcomers {
            if rules.count < Self.places || releasePlace(for: rule) {
                rules[rule] = number
            } else {
                other += number
            }
        }
    }

    /// Takes the place of the rule that counted least, if `rule` counted more than twice as much.
    private mutating func releasePlace(for rule: String) -> Bool {
        guard let least = rules.keys.min(by: { (recent($0), $0) < (recent($1), $1) }),
            recent(rule) > 2 * recent(least)
        else { return false }
        rules[least] = nil
        return true
    }

    private func recent(_ rule: String) -> Int {
        current[rule, default: 0] + previous[rule, default: 0]
    }
}

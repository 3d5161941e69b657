import PolicyStore
import Postgres
import UpdatePolicy

/// Says where the ramp of a rule stands, and how it goes on.
enum RampSummary {
    static func text(ofRule key: String, _ session: PostgresSession) throws -> String? {
        let now = try CommandClock(session).now
        return try PolicyReports(session).rule(key).map { text($0, now) }
    }

    private static func text(_ rule: Rule, _ now: Timestamp) -> String {
        let share = "\(rule.rollout(at: now)) %"
        if let since = rule.holdInForce(at: now) {
            return "\(rule.key) is held at \(share) since \(TimeText.local(since, from: now)). "
                + "To let it go on: \(PrintedCommand("rule resume \(rule.key)"))"
        }
        let coming = rule.effectiveSteps.filter { now < $0.at }.map {
            "\($0.rollout) % at \(TimeText.local($0.at, from: now))"
        }
        return "\(rule.key) is not held: \(share) now"
            + (coming.isEmpty ? ", and no step is to come." : ", \(coming.joined(separator: ", ")).")
    }
}

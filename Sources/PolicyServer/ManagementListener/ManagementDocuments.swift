import PolicyStore
import UpdatePolicy

extension ServerState {
    /// Whether there is a policy, and no shutdown has begun.
    var isReady: Bool { policy.current != nil && !policy.status.isShuttingDown }

    /// The answer of `/ready`: whether a policy is loaded, which one, since when and from where, and what is wrong.
    func readiness(at instant: ContinuousClock.Instant = .now) -> JSONValue {
        let status = policy.status
        let age = status.loadedAt.map {
            max(0, Double(clock().microsecondsSince1970 - $0.microsecondsSince1970) / 1_000_000)
        }
        let clockError = status.databaseClockOffset.flatMap { offset in
            abs(offset) > DatabaseClock.tolerance
                ? "checks go by the clock of this machine, which is \(Int(abs(offset).rounded())) s"
                    + " \(offset < 0 ? "ahead of" : "behind") that of the database" : nil
        }
        let lockoutsOff = status.standsInUntil.map {
            "the policy that answers stands in for one by which servers ended, until \($0) or the next edit"
        }
        let members: [(name: String, value: JSONValue?)] = [
            ("ageSeconds", age?.jsonValue),
            ("brake", status.brake?.description.jsonValue),
            ("brakeError", status.brakeFault?.jsonValue),
            ("certificateError", tls?.fault?.jsonValue),
            ("clockError", clockError?.jsonValue),
            ("database", .string(status.databaseIsReachable ? "up" : "down")),
            ("fileError", status.fileFault?.jsonValue),
            ("followerStalled", .boolean(status.followerIsStalled(at: instant))),
            ("heldBackRevision", status.heldBack?.revision.jsonValue),
            ("lastPolledAt", status.lastPolledAt?.jsonValue),
            ("lockoutKey", lockoutKey?.keyID?.jsonValue),
            ("lockoutKeyError", lockoutKey?.fault?.jsonValue),
            ("lockoutsOff", lockoutsOff?.jsonValue),
            ("ready", .boolean(isReady)),
            ("reloadError", status.failure?.reason.jsonValue),
            ("reloadErrorAt", status.failure?.at.jsonValue),
            ("revision", policy.current?.revision.jsonValue),
            ("shuttingDown", .boolean(status.isShuttingDown)),
            ("source", status.source?.rawValue.jsonValue),
        ]
        return .object(members)
    }

    /// The answer of `/policy`: the revision and size of the policy, and the totals of counting.
    var loadedPolicy: JSONValue {
        let current = policy.current
        return .object([
            ("apps", (current?.appCount ?? 0).jsonValue), ("counting", counting?.totals.jsonValue),
            ("releases", (current?.releaseCount ?? 0).jsonValue), ("revision", current?.revision.jsonValue),
            ("rules", (current?.ruleCount ?? 0).jsonValue), ("token", current?.token.jsonValue),
        ])
    }
}

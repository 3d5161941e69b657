import PolicyStore
import UpdatePolicy

/// The answer of `/live`: the process serves requests.
struct LiveDocument: Encodable, Sendable {
    let live = true
}

/// The answer of `/ready`: whether a policy is loaded, which one, since when and from where, and the last reload error.
struct ReadyDocument: Encodable, Sendable {
    let ready: Bool
    let shuttingDown: Bool
    let revision: Int64?
    let ageSeconds: Double?
    let source: String?
    let database: String
    /// When the database last said which revision it has.
    let lastPolledAt: String?
    /// How far the clocks of the database and this machine differ, where that matters.
    let clockError: String?
    /// Whether the follower of the database is stalled, so that no edit arrives.
    let followerStalled: Bool
    let reloadError: String?
    let reloadErrorAt: String?
    /// The revision that is not taken because servers ended by it.
    let heldBackRevision: Int64?
    /// Why lockouts are sent as plain messages although the brake is off.
    let lockoutsOff: String?
    let fileError: String?
    /// The file of the brake and why it is on; nil: it is off.
    let brake: String?
    let brakeError: String?
    /// Why clients may refuse the certificate.
    let certificateError: String?
    /// The name of the key that signs lockouts.
    let lockoutKey: String?
    let lockoutKeyError: String?
    let replacedPolicy: String?

    init(
        policy: LivePolicy,
        tls: ReloadedCertificate? = nil,
        lockoutKey: ReloadedLockoutKey? = nil,
        now: Timestamp,
        instant: ContinuousClock.Instant = .now
    ) {
        let current = policy.current
        let status = policy.status
        shuttingDown = status.isShuttingDown
        ready = current != nil && !shuttingDown
        revision = current?.revision
        ageSeconds = status.loadedAt.map {
            Double(now.microsecondsSince1970 - $0.microsecondsSince1970) / 1_000_000
        }
        source = status.source?.rawValue
        database = status.databaseIsReachable ? "up" : "down"
        lastPolledAt = status.lastPolledAt.map { "\($0)" }
        clockError = status.databaseClockOffset.flatMap { offset in
            abs(offset) > DatabaseClock.tolerance
                ? "checks go by the clock of this machine, which is \(Int(abs(offset).rounded())) s"
                    + " \(offset < 0 ? "ahead of" : "behind") that of the database" : nil
        }
        followerStalled = status.followerIsStalled(at: instant)
        reloadError = status.failure?.reason
        reloadErrorAt = status.failure.map { "\($0.at)" }
        heldBackRevision = status.heldBack?.revision
        lockoutsOff = status.standsInUntil.map {
            "the policy that answers stands in for one by which servers ended, until \($0) or the next edit"
        }
        fileError = status.fileFault
        brake = status.brake.map { "\($0)" }
        brakeError = status.brakeFault
        certificateError = tls?.fault
        self.lockoutKey = lockoutKey?.keyID
        lockoutKeyError = lockoutKey?.fault
        replacedPolicy = status.replacement.map { "\($0)" }
    }
}

/// The answer of `/policy`: the revision and size of the policy, and the totals of counting.
struct LoadedPolicyDocument: Encodable, Sendable {
    let revision: Int64?
    let token: String?
    let apps: Int
    let releases: Int
    let rules: Int
    let counting: CountingTotals?

    init(_ policy: CompiledPolicy?, _ counting: CountingTotals?) {
        revision = policy?.revision
        token = policy?.token
        apps = policy?.appCount ?? 0
        releases = policy?.releaseCount ?? 0
        rules = policy?.ruleCount ?? 0
        self.counting = counting
    }
}

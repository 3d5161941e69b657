import Synchronization

/// A policy made ready to answer checks: immutable, its conditions as small integers, its messages prepared as bytes.
///
/// A check looks its app up by bundle, then compares the client with the app's rules, and with those for every app. What
/// belongs to one app is compiled on its own, so a policy in which few apps differ from the one before shares all others
/// with it.
package final class CompiledPolicy: Sendable {
    package let revision: Int64
    package let token: String

    /// Differs from that of any other compiled policy of this process.
    package let serialNumber: UInt64
    private static let lastSerialNumber = Atomic<UInt64>(0)

    /// Whether lockouts are sent; false: each is sent as a plain message, because the brake is on.
    package let sendsLockouts: Bool

    package let appCount: Int
    package let ruleCount: Int
    package let releaseCount: Int

    /// Whether any lockout is enabled, so that checks are counted for it.
    package let hasLockouts: Bool

    let apps: [CompiledApp]
    let appIndexes: NameTable
    let platformNumbers: PlatformNumbers
    let textLanguages: NameTable
    let hashSeed: UInt64

    /// The times at which an enabled lockout begins or ends, in order.
    let lockoutTimes: [Int64]

    let rulesForEveryApp: RuleGroup?

    /// The index of the app that has a number in the App Store. Of several it is the one for which the number is recorded, not
    /// only read from a link, then the first by its bundle: not the one that was loaded last.
    let appsByStoreID: [Int64: Int]

    private init(revision: Int64, token: String, _ compiler: PolicyCompiler, sendingLockouts: Bool = true) {
        self.revision = revision
        self.token = token
        sendsLockouts = sendingLockouts
        serialNumber = Self.lastSerialNumber.add(1, ordering: .relaxed).newValue
        apps = compiler.apps
        appIndexes = compiler.appIndexes
        platformNumbers = compiler.platformNumbers
        textLanguages = compiler.textLanguages
        hashSeed = compiler.hashSeed
        rulesForEveryApp = compiler.rulesForEveryApp
        var storeIDs: [Int64: Int] = [:]
        for app in apps {
            guard let row = app.row, let storeID = row.numberInStore else { continue }
            let other = storeIDs[storeID].flatMap { compiler.apps[$0].row }
            if other.map({ row.hasNumberInStore(before: $0) }) ?? true { storeIDs[storeID] = app.index }
        }
        appsByStoreID = storeIDs
        let groups = (apps.map(\.rules) + [rulesForEveryApp]).compactMap(\.self)
        hasLockouts = groups.contains { !$0.lockoutRules.isEmpty }
        lockoutTimes = Set(groups.flatMap(\.lockoutTimes)).sorted()
        appCount = apps.count { $0.row != nil }
        ruleCount = apps.reduce(rulesForEveryApp?.rows.count ?? 0) { $0 + ($1.rules?.rows.count ?? 0) }
        releaseCount = apps.reduce(0) { $0 + $1.releaseRows.count }
    }

    /// The same policy, with or without lockouts. It shares everything that was compiled, whatever its size.
    package func sendingLockouts(_ sends: Bool) -> CompiledPolicy {
        if sends == sendsLockouts { return self }
        return CompiledPolicy(
            revision: revision, token: token, PolicyCompiler(continuing: self), sendingLockouts: sends
        )
    }

    /// - Parameter hashSeed: The secret of the hashes of names; answers do not depend on it.
    /// - Throws: `PolicyError` that names the row which means nothing: a range, a version, a region that cannot be
    ///   read, an empty list, or an app or rule that appears twice.
    package convenience init(_ policy: Policy, hashSeed: UInt64 = .random(in: .min ... .max)) throws(PolicyError) {
        var compiler = PolicyCompiler(hashSeed: hashSeed)
        try compiler.compile(policy)
        self.init(revision: policy.revision, token: policy.token, compiler)
    }

    /// Compiles what differs from this policy, and shares the rest with it.
    ///
    /// - Throws: as ``init(_:hashSeed:)`` does.
    package func updated(with update: PolicyUpdate) throws(PolicyError) -> CompiledPolicy {
        var compiler = PolicyCompiler(continuing: self)
        try compiler.compile(
            update.policy, bundles: update.bundles, includesRulesForEveryApp: update.includesRulesForEveryApp
        )
        return CompiledPolicy(revision: update.policy.revision, token: update.policy.token, compiler)
    }

    /// The rows that the policy was compiled from, in the order of bundles, of releases and of messages.
    package var policy: Policy {
        let apps = apps.sorted { UTF8Text($0.bundle) < UTF8Text($1.bundle) }
        return Policy(
            revision: revision, token: token, apps: apps.compactMap(\.row),
            releases: apps.flatMap(\.releaseRows).sorted { $0.id < $1.id },
            rules: (apps.flatMap { $0.rules?.rows ?? [] } + (rulesForEveryApp?.rows ?? [])).sorted(by: Rule.precedes)
        )
    }

    /// The key of a rule.
    package func key(of rule: RuleID) -> String {
        let group = rule.app < 0 ? rulesForEveryApp : apps[Int(rule.app)].rules
        return group?.rows[Int(rule.index)].key ?? ""
    }
}

/// The part of a compiled policy that is about one app, or about every app.
///
/// Policies share the sections in which they do not differ, so whoever keeps what was made of a section can tell whether
/// it still holds.
package struct PolicySection: Sendable {
    /// What the section was compiled to; the same object in policies that share it.
    let compiled: any AnyObject & Sendable

    package let app: App?
    package let releases: [Release]
    package let rules: [Rule]

    /// What tells the section apart from others for as long as one of the policies that share it lives.
    package var id: ObjectIdentifier { ObjectIdentifier(compiled) }
}

extension CompiledPolicy {
    /// All sections that hold anything, in an order that stays from one policy to the next.
    package var sections: [PolicySection] {
        apps.filter { !$0.isEmpty }.map(\.section)
            + [rulesForEveryApp].compactMap { group in
                group.map { PolicySection(compiled: $0, app: nil, releases: [], rules: $0.rows) }
            }
    }
}

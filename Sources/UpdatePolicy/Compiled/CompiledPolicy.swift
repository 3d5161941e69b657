// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A policy made ready to answer checks: immutable, indexed, its messages prepared as bytes.
///
/// A check looks its app up by bundle, then asks the index of the app's rules, and that of the rules for every app, for
/// those that the client may meet; only these are compared. Rules are numbered in the order of their messages, so
/// sorting the numbers of those that match sorts the messages.
public final class CompiledPolicy: Sendable {
    /// The rows, the rules in the order of their messages.
    public let policy: Policy

    let rules: [CompiledRule]
    let pools: RulePools
    let apps: [CompiledApp]
    let appNumbers: NameTable
    let platformNumbers: PlatformNumbers
    let rulesForEveryApp: RuleGroup?

    /// Compiles a policy.
    ///
    /// - Throws: `PolicyError` that names the row which means nothing: a range, a version, a region that cannot be
    ///   read, an empty list, or an app or rule that is there twice.
    public init(_ policy: Policy) throws(PolicyError) {
        let compiler = try PolicyCompiler(policy)
        self.policy = compiler.policy
        rules = compiler.rules
        pools = compiler.pools
        apps = compiler.apps
        appNumbers = compiler.appNumbers
        platformNumbers = compiler.platformNumbers
        rulesForEveryApp = compiler.rulesForEveryApp
    }

    /// The revision of the policy.
    public var revision: Int64 { policy.revision }

    /// The token of the policy.
    public var token: String { policy.token }

    /// How many apps the policy has.
    public var appCount: Int { policy.apps.count }

    /// How many rules the policy has, enabled or not.
    public var ruleCount: Int { policy.rules.count }

    /// How many releases the policy has.
    public var releaseCount: Int { policy.releases.count }

    /// The key of a rule by its place, as `SentRule` names it.
    public func ruleKey(at index: Int) -> String {
        policy.rules[index].key
    }
}

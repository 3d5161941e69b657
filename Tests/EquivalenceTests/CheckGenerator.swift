import TestPolicies
import TestRandom
import UpdatePolicy

/// The writer of random checks of a policy: near-miss clients, at the boundaries of its times.
struct CheckGenerator {
    private let scene: PolicyGenerator.Scene
    private let boundaries: [Timestamp]
    private var random: SeededGenerator
    private var manual: SeededGenerator

    init(_ scene: PolicyGenerator.Scene, seed: UInt64) {
        self.scene = scene
        boundaries = Self.boundaries(scene.policy)
        random = SeededGenerator(seed: seed)
        manual = random
    }

    /// Every time at which an answer of the policy may change.
    private static func boundaries(_ policy: Policy) -> [Timestamp] {
        let soaks = Set(policy.rules.filter { $0.target != nil || $0.lockout }.map(\.soakMicroseconds)).union([0])
        var times = policy.releases.flatMap { release in
            [release.withdrawnAt].compactMap { $0 }
                + soaks.compactMap { release.liveAt?.advanced(byMicroseconds: $0) }
        }
        for rule in policy.rules {
            times += [rule.heldAt, rule.startsAt, rule.endsAt].compactMap { $0 } + rule.steps.map(\.at)
        }
        return Set(times).sorted()
    }

    /// The next check.
    mutating func check() -> Check {
        var client: ClientDescription = ["bundle": .text(random.pick(ClientPools.bundles))]
        append("version", version(versions()), missing: 4, to: &client)
        append("build", version(PolicyPools.nearMisses.builds), missing: 25, to: &client)
        append("os", version(ClientPools.osVersions), missing: 20, to: &client)
        append("platform", .text(random.pick(ClientPools.platforms)), missing: 6, to: &client)
        append("region", .text(random.pick(ClientPools.regions)), missing: 25, to: &client)
        append("language", .text(random.pick(ClientPools.languages)), missing: 30, to: &client)
        append("install", .text(install()), missing: 15, to: &client)
        for name in random.some(PolicyPools.nearMisses.attributeNames + [""], upTo: 4, chance: 60) ?? [] {
            client.append(name, attribute())
        }
        client.members.shuffle(using: &random)
        // Drawn apart, so that the rest of a check is the same with it and without.
        if manual.chance(30) {
            client.append("manual", manual.pick([.boolean(true), .boolean(true), .boolean(false), .null]))
        }
        return Check(client: client, time: time())
    }

    private mutating func append(
        _ name: String,
        _ value: MemberLiteral,
        missing percent: Int,
        to client: inout ClientDescription
    ) {
        guard random.chance(percent) else { return client.append(name, value) }
        if let value = random.pick([MemberLiteral.null, .text("")], chance: 50) { client.append(name, value) }
    }

    /// The pool that a client's version is from: that of the releases, the usual ones, or all.
    private mutating func versions() -> [String] {
        let released = scene.policy.releases.map(\.version)
        if !released.isEmpty, random.chance(25) { return released }
        return random.chance(60) ? PolicyPools.nearMisses.usualVersions + ["1"] : PolicyPools.nearMisses.versions
    }

    private mutating func version(_ pool: [String]) -> MemberLiteral {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: .text(random.pick(PolicyPools.nearMisses.unreadableVersions))
        case 1: .text(random.pick(ClientPools.blankVersions))
        case 2: .number(random.pick(ClientPools.numbers))
        default: .text(random.pick(pool))
        }
    }

    private mutating func install() -> String {
        random.chance(90)
            ? random.pick(scene.installs)
            : random.pick([
                "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
                String(repeating: "i", count: 128), String(repeating: "i", count: 129),
                String(repeating: "\u{E9}", count: 64), String(repeating: "\u{E9}", count: 64) + "e", " ",
            ])
    }

    private mutating func attribute() -> MemberLiteral {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .null
        case 1: .composite(random.pick(["{\"a\": 1}", "[]", "[\"beta\"]"]))
        case 2: .boolean(random.chance(50))
        case 3, 4: .number(random.pick(["1", "1.0", "-1", "0.10", "12345678901234567890.5"]))
        case 5: .text("")
        default: .text(random.pick(ClientPools.attributeValues))
        }
    }

    /// A time at which answers change, just before or after it, or any other.
    mutating func time() -> Timestamp {
        guard !boundaries.isEmpty, random.chance(75) else {
            return scene.origin.advanced(
                byMicroseconds: Int64.random(in: -300_000_000_000...300_000_000_000, using: &random)
            )
        }
        return random.pick(boundaries).advanced(byMicroseconds: Int64.random(in: -1...1, using: &random))
    }
}

import TestPolicies
import UpdatePolicy

/// A fault of the engine, made from outside: it is given a policy or a client that is not quite the one asked about.
struct EngineFault: Sendable {
    let description: String
    /// A seed from which the fault is found soon.
    let seed: UInt64
    var policy: @Sendable (inout Policy) -> Void = { _ in }
    var client: @Sendable (inout ClientDescription) -> Void = { _ in }
}

extension EngineFault {
    /// A fault in each rule.
    init(_ description: String, seed: UInt64, rule: @escaping @Sendable (inout Rule) -> Void) {
        self.init(description: description, seed: seed) { policy in
            for index in policy.rules.indices { rule(&policy.rules[index]) }
        }
    }

    /// A fault in each release.
    init(_ description: String, seed: UInt64, release: @escaping @Sendable (inout Release) -> Void) {
        self.init(description: description, seed: seed) { policy in
            for index in policy.releases.indices { release(&policy.releases[index]) }
        }
    }

    /// A fault in a member of each client.
    init(
        _ description: String,
        seed: UInt64,
        member name: String,
        _ change: @escaping @Sendable (MemberLiteral) -> MemberLiteral
    ) {
        self.init(
            description: description, seed: seed,
            client: { client in
                client.members = client.members.map {
                    $0.name == name ? ClientDescription.Member(name: name, value: change($0.value)) : $0
                }
            }
        )
    }
}

extension EngineFault {
    /// Faults of which each is to be found.
    static let all = [
        EngineFault("soak is ignored", seed: 1, rule: { $0.soak = nil }),
        EngineFault(
            "soak is rounded to whole days", seed: 1,
            rule: { $0.soak = DayTimeInterval(microseconds: $0.soakMicroseconds / 86_400_000_000 * 86_400_000_000) }
        ),
        EngineFault("final is lost", seed: 2, rule: { $0.final = false }),
        EngineFault(
            "the rollout is rounded to whole percents", seed: 2,
            rule: { $0.rollout = Percentage(hundredths: ($0.rollout.hundredths + 50) / 100 * 100) ?? .all }
        ),
        EngineFault("the first step is lost", seed: 2, rule: { $0.steps = Array($0.steps.dropFirst()) }),
        EngineFault("a hold is ignored", seed: 2, rule: { $0.heldAt = nil }),
        EngineFault(
            "the step at the time of a hold is held", seed: 2,
            rule: { $0.heldAt = $0.heldAt?.advanced(byMicroseconds: -1) }
        ),
        EngineFault(
            "the start is exclusive", seed: 8, rule: { $0.startsAt = $0.startsAt?.advanced(byMicroseconds: 1) }
        ),
        EngineFault("lockouts need no way out", seed: 9, rule: { $0.lockoutWithoutUpdate = true }),
        EngineFault("a disabled rule hides others", seed: 20, rule: { if $0.final { $0.enabled = true } }),
        EngineFault(
            "what an attribute must not be is what it must be", seed: 1,
            rule: { rule in
                rule.attributes = rule.attributes?.map {
                    $0.values.isNot ? AttributeCondition(name: $0.name, .among($0.values.texts)) : $0
                }
            }
        ),
        EngineFault(
            "an attribute is in any range", seed: 1,
            rule: { rule in
                rule.attributes = rule.attributes?.map {
                    $0.values.range == nil ? $0 : AttributeCondition(name: $0.name, .range("*"))
                }
            }
        ),
        EngineFault("remind is lost", seed: 3, rule: { $0.remind = nil }),
        EngineFault("shows are lost", seed: 3, rule: { $0.shows = nil }),
        EngineFault("skippable is lost", seed: 6, rule: { $0.skippable = false }),
        EngineFault("min_os is lost", seed: 9, release: { $0.minOS = nil }),
        EngineFault("staged is inverted", seed: 1, release: { $0.staged.toggle() }),
        EngineFault("an unknown build is build 0", seed: 1, release: { $0.build = $0.build ?? "0" }),
        EngineFault("releases with one version come in the opposite order", seed: 106, release: { $0.id = -$0.id }),
        EngineFault(
            "a language is cut at 64 bytes", seed: 21, member: "language",
            { value in
                guard case .text(let text) = value else { return value }
                return .text(String(decoding: text.utf8.prefix(64), as: UTF8.self))
            }
        ),
        EngineFault(
            "a number that no system ever had can be judged", seed: 1, member: "os",
            { $0 == "21.6.0" ? "26.0" : $0 }
        ),
        EngineFault(
            "an old code of a language is read as it is", seed: 1, member: "language", { $0 == "iw" ? "qaa" : $0 }
        ),
        EngineFault(
            "the region tells no script", seed: 1, member: "language", { $0 == "zh-TW" ? "zh-yue-TW" : $0 }
        ),
        EngineFault("it is not known that the person asked", seed: 1, member: "manual", { _ in .null }),
        EngineFault(
            "a number loses its last zero", seed: 3, member: "version",
            { value in
                guard case .number(let number) = value, number.contains("."), number.hasSuffix("0") else {
                    return value
                }
                return .number(String(number.dropLast()))
            }
        ),
    ]
}

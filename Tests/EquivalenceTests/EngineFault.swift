// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdatePolicy

/// A fault of the engine, made from outside: it is given a policy or a client that is not quite the one asked about.
struct EngineFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var policy: @Sendable (inout Policy) -> Void = { _ in }
    var client: @Sendable (inout ClientDescription) -> Void = { _ in }

    /// A fault in each rule.
    init(_ description: String, rule: @escaping @Sendable (inout Rule) -> Void) {
        testDescription = description
        policy = { policy in
            for index in policy.rules.indices { rule(&policy.rules[index]) }
        }
    }

    /// A fault in each release.
    init(_ description: String, release: @escaping @Sendable (inout Release) -> Void) {
        testDescription = description
        policy = { policy in
            for index in policy.releases.indices { release(&policy.releases[index]) }
        }
    }

    /// A fault in a member of each client.
    init(_ description: String, member name: String, _ change: @escaping @Sendable (MemberLiteral) -> MemberLiteral) {
        testDescription = description
        client = { client in
            client.members = client.members.map {
                $0.name == name ? ClientDescription.Member(name: name, value: change($0.value)) : $0
            }
        }
    }
}

extension EngineFault {
    /// Faults of which each is to be found.
    static let all = [
        EngineFault("soak is ignored", rule: { $0.soak = nil }),
        EngineFault(
            "soak is rounded to whole days",
            rule: { $0.soak = SoakTime(microseconds: $0.soakMicroseconds - $0.soakMicroseconds % 86_400_000_000) }
        ),
        EngineFault("final is lost", rule: { $0.final = false }),
        EngineFault(
            "the rollout is rounded to whole percents",
            rule: { $0.rollout = Percentage(hundredths: ($0.rollout.hundredths + 50) / 100 * 100) ?? .all }
        ),
        EngineFault("the first step is lost", rule: { $0.steps = Array($0.steps.dropFirst()) }),
        EngineFault("the start is exclusive", rule: { $0.startsAt = $0.startsAt?.advanced(byMicroseconds: 1) }),
        EngineFault("lockouts need no way out", rule: { $0.lockoutWithoutUpdate = true }),
        EngineFault("min_os is lost", release: { $0.minOS = nil }),
        EngineFault("staged is inverted", release: { $0.staged.toggle() }),
        EngineFault("an unknown build is build 0", release: { $0.build = $0.build ?? "0" }),
        EngineFault("releases with one version come in the opposite order", release: { $0.id = -$0.id }),
        EngineFault(
            "a language is cut at 64 bytes",
            member: "language",
            { value in
                guard case .text(let text) = value else { return value }
                return .text(String(decoding: text.utf8.prefix(64), as: UTF8.self))
            }
        ),
        EngineFault(
            "a number loses its last zero",
            member: "version",
            { value in
                guard case .number(let number) = value, number.contains("."), number.hasSuffix("0") else {
                    return value
                }
                return .number(String(number.dropLast()))
            }
        ),
    ]
}

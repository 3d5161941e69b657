// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package import UpdatePolicy

/// What one recorder counted for the fuses of one policy in a minute.
package struct FuseCounts: Sendable {
    /// The checks of an app that one rule could lock out.
    package struct Load: Sendable, Equatable {
        package static let zero = Load()

        /// How many checks were counted.
        package fileprivate(set) var checks = 0
        /// How many of them the rule locked out.
        package fileprivate(set) var lockouts = 0
    }

    /// When the minute begins.
    package let minute: Timestamp
    /// The revision of the policy that answered.
    package let revision: Int64
    private var loads = CountTable(zero: Load.zero)

    init(minute: Timestamp, revision: Int64) {
        self.minute = minute
        self.revision = revision
    }

    var isEmpty: Bool { loads.isDrained }

    /// Counts an answer for each fuse that it loads.
    mutating func count(_ answer: borrowing Answer, _ policy: CompiledPolicy, at now: Timestamp) {
        let bundle = answer.bundle
        policy.forEachFuse(of: answer, at: now) { rule, isLockedOut in
            var name = Array(policy.key(of: rule).utf8)
            if let bundle { name += [Self.separator] + bundle.utf8 }
            name.withUnsafeBytes { name in
                _ = loads.count(name, mayInsert: { true }) { load in
                    load.checks &+= 1
                    if isLockedOut { load.lockouts &+= 1 }
                }
            }
        }
    }

    /// What was counted, by the key of the rule and the bundle of the app; nil: apps that the policy does not list.
    package var all: [(rule: String, bundle: String?, load: Load)] {
        var loads = loads
        var drained = DrainedCounts<Load>()
        loads.drain(limit: .max, into: &drained)
        return drained.map { name, load in
            let parts = name.split(separator: Self.separator, maxSplits: 1)
            return (
                String(decoding: parts[0], as: UTF8.self),
                parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil, load
            )
        }
    }

    /// The minute that a time is in.
    static func minute(of time: Timestamp) -> Timestamp {
        let length: Int64 = 60_000_000
        return Timestamp(microsecondsSince1970: time.microsecondsSince1970.flooredQuotient(by: length) * length)
    }

    /// Neither a key nor a bundle has it.
    private static let separator = UInt8(ascii: " ")
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// Finds out which present row each wanted row is, from the closest likeness to the loosest.
struct PolicyRowPairing {
    private let current: [PolicyRow]
    private let wanted: [PolicyRow]
    private var partners: [Int?]
    private var isTaken: [Bool]

    init(current: [PolicyRow], wanted: [PolicyRow]) {
        self.current = current
        self.wanted = wanted
        partners = Array(repeating: nil, count: wanted.count)
        isTaken = Array(repeating: false, count: current.count)
    }

    /// Pairs the rows that are still alone and have the same identity, in their order.
    mutating func pair(by identity: (PolicyRow) -> [AnyHashable]) {
        var free: [[AnyHashable]: [Int]] = [:]
        for place in current.indices.reversed() where !isTaken[place] {
            free[identity(current[place]), default: []].append(place)
        }
        for place in wanted.indices where partners[place] == nil {
            if let partner = free[identity(wanted[place])]?.popLast() {
                partners[place] = partner
                isTaken[partner] = true
            }
        }
    }

    /// What turns the present rows into the wanted ones.
    func edits(_ table: PolicyTable) -> [PolicyDifference.Edit] {
        let removals = current.indices.filter { !isTaken[$0] }.map {
            PolicyDifference.Edit(before: current[$0], after: nil, place: nil, table: table)
        }
        return removals
            + wanted.indices.compactMap { place in
                guard let partner = partners[place] else {
                    return PolicyDifference.Edit(before: nil, after: wanted[place], place: place, table: table)
                }
                let before = current[partner]
                guard before.values != wanted[place].values else { return nil }
                let after = PolicyRow(table, id: before.id, values: wanted[place].values)
                return PolicyDifference.Edit(before: before, after: after, place: place, table: table)
            }
    }
}

extension PolicyTable {
    /// What makes two rows the same row, from the closest likeness to the loosest.
    var identities: [(PolicyRow) -> [AnyHashable]] {
        switch self {
        case .apps: [{ [Self.caseless($0["bundle"])] }]
        case .storeLinks: [{ [Self.caseless($0["bundle"]), $0["platform"]] }]
        case .releases:
            [
                { [Self.caseless($0["bundle"]), AnyHashable(Array($0.values.dropFirst()))] },
                { Self.release($0) + [Self.version($0["build"]), $0["regions"]] },
                { Self.release($0) + [Self.version($0["build"])] },
                { Self.release($0) },
            ]
        case .rules: [{ [$0["key"]] }]
        case .ruleTexts: [{ [$0["rule"], Self.caseless($0["language"])] }]
        case .rolloutSteps: [{ [$0["rule"], $0["at"]] }]
        }
    }

    private static func release(_ row: PolicyRow) -> [AnyHashable] {
        [caseless(row["bundle"]), row["platform"], version(row["version"])]
    }

    private static func caseless(_ value: PolicyValue) -> AnyHashable {
        value.text.map { AnyHashable(UTF8Text($0).lowercasedASCII) } ?? AnyHashable(value)
    }

    private static func version(_ value: PolicyValue) -> AnyHashable {
        value.text.flatMap(AppVersion.init).map(AnyHashable.init) ?? AnyHashable(value)
    }
}

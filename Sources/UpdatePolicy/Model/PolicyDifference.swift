// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What has to be done to the rows of a policy to make them those of another. Both policies are with their notes.
public struct PolicyDifference: Sendable {
    /// What is done to one row.
    public struct Edit: Sendable {
        /// The row as it is; nil if it is to be added.
        public let before: PolicyRow?
        /// The row as it is to be; nil if it is to be removed.
        public let after: PolicyRow?
        /// The place of ``after`` among the wanted rows of its table.
        public let place: Int?
        /// The table of the row.
        public let table: PolicyTable
    }

    /// The edits, table by table; none for a row that is as it should be.
    public let edits: [Edit]

    /// Rules whose percentage and steps both change: while a rule has steps, its percentage cannot be set, so all its
    /// steps go first and are planned anew.
    public let replannedRules: [String]
    /// The wanted steps of ``replannedRules``, each with its place among the wanted steps.
    public let replannedSteps: [(step: PolicyRow, place: Int)]

    /// The number of rows that are to be removed.
    public var removals: Int { edits.count { $0.after == nil } }

    /// Compares two policies.
    ///
    /// Rows are the same row if they have the same key. Releases have none that says anything, so each wanted release
    /// is taken for the present one that it has most in common with: everything, else version, build and regions, else
    /// version and build, else the version.
    public init(from current: Policy, to wanted: Policy) {
        var edits: [Edit] = []
        for table in PolicyTable.allCases {
            var pairing = PolicyRowPairing(current: current.rows(of: table), wanted: wanted.rows(of: table))
            for likeness in table.likenesses { pairing.pair(by: likeness) }
            edits += pairing.edits(table)
        }
        self.edits = edits

        let rollouts = edits.compactMap { edit -> String? in
            guard edit.table == .rules, let before = edit.before, let after = edit.after,
                before["rollout"] != after["rollout"]
            else { return nil }
            return after["key"].text
        }
        let stepped = Set(
            edits.compactMap { $0.table == .rolloutSteps ? ($0.after ?? $0.before)?["rule"].text : nil }
        )
        let replanned = rollouts.filter(stepped.contains)
        let replannedSet = Set(replanned)
        replannedRules = replanned
        replannedSteps = wanted.rows(of: .rolloutSteps).enumerated().compactMap { place, step in
            replannedSet.contains(step["rule"].text ?? "") ? (step, place) : nil
        }
    }
}

/// Finds out which present row each wanted row is, from the closest likeness to the loosest.
private struct PolicyRowPairing {
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

    /// Pairs the rows that are still alone and are alike, in their order.
    mutating func pair(by likeness: (PolicyRow) -> [AnyHashable]) {
        var free: [[AnyHashable]: [Int]] = [:]
        for place in current.indices.reversed() where !isTaken[place] {
            free[likeness(current[place]), default: []].append(place)
        }
        for place in wanted.indices where partners[place] == nil {
            if let partner = free[likeness(wanted[place])]?.popLast() {
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
                let after = PolicyRow(wanted[place], id: before.id)
                return PolicyDifference.Edit(before: before, after: after, place: place, table: table)
            }
    }
}

extension PolicyTable {
    /// What makes two rows the same row, from the closest likeness to the loosest.
    fileprivate var likenesses: [(PolicyRow) -> [AnyHashable]] {
        guard self == .releases else { return [identity(of:)] }
        return [
            { row in zip(columns, row.values).map { $1.identity(as: $0.type) } },
            { release($0) + [Self.version($0["build"]), $0["regions"]] },
            { release($0) + [Self.version($0["build"])] },
            { release($0) },
        ]
    }

    /// What people know a row by.
    private func identity(of row: PolicyRow) -> [AnyHashable] {
        zip(columns, row.values).filter { $0.0.role == .identity }.map { $1.identity(as: $0.type) }
    }

    /// What people know a release by; two spellings of a version are one.
    private func release(_ row: PolicyRow) -> [AnyHashable] {
        zip(columns, row.values).filter { $0.0.role == .identity }.map { column, value in
            column.type == .version ? Self.version(value) : value.identity(as: column.type)
        }
    }

    private static func version(_ value: PolicyValue) -> AnyHashable {
        value.text.flatMap(AppVersion.init).map(AnyHashable.init) ?? AnyHashable(value)
    }
}

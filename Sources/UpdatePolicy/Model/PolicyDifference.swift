/// The edits that turn the rows of one policy into those of another. Both policies have their notes.
package struct PolicyDifference: Sendable {
    package struct Edit: Sendable {
        /// The row as it is; nil if it is to be added.
        package let before: PolicyRow?
        /// The row as it is to be; nil if it is to be removed. Notes of a release that is to be added have the complement
        /// (`~`) of its index in place of its id.
        package let after: PolicyRow?
        /// The index of ``after`` among the wanted rows of its table.
        package let index: Int?
        package let table: PolicyTable
    }

    /// The edits, table by table; none for a row that is as it should be.
    package let edits: [Edit]

    /// Compares two policies.
    ///
    /// Rows with the same key are the same row. Releases have only a generated id, so each wanted release is paired with the
    /// most similar present one: equal in everything, else in version, build and regions, else in version and build, else in
    /// the version.
    package init(from current: Policy, to wanted: Policy) {
        var edits: [Edit] = []
        var wanted = wanted
        for table in PolicyTable.allCases {
            var pairing = PolicyRowPairing(current: current.rows(of: table), wanted: wanted.rows(of: table))
            for likeness in table.likenesses { pairing.pair(by: likeness) }
            edits += pairing.edits(table)
            if table == .releases {
                // Notes name their release by its id.
                for (index, id) in zip(wanted.releases.indices, pairing.ids) { wanted.releases[index].id = id }
            }
        }
        self.edits = edits
    }
}

/// Pairs wanted rows with present rows, from the strictest comparison to the loosest.
private struct PolicyRowPairing {
    private let current: [PolicyRow]
    private let wanted: [PolicyRow]
    private var partners: [Int?]
    private var isTaken: [Bool]

    init(current: [PolicyRow], wanted: [PolicyRow]) {
        (self.current, self.wanted) = (current, wanted)
        partners = Array(repeating: nil, count: wanted.count)
        isTaken = Array(repeating: false, count: current.count)
    }

    /// Pairs the rows that are still unpaired and compare equal, in their order.
    mutating func pair(by likeness: (PolicyRow) -> [AnyHashable]) {
        var free: [[AnyHashable]: [Int]] = [:]
        for index in current.indices.reversed() where !isTaken[index] {
            free[likeness(current[index]), default: []].append(index)
        }
        for index in wanted.indices where partners[index] == nil {
            if let partner = free[likeness(wanted[index])]?.popLast() {
                partners[index] = partner
                isTaken[partner] = true
            }
        }
    }

    /// The ids of the wanted rows: those of their partners, and the complements of their indices where they have none.
    var ids: [Int64] {
        partners.enumerated().map { index, partner in partner.flatMap { current[$0].id } ?? ~Int64(index) }
    }

    func edits(_ table: PolicyTable) -> [PolicyDifference.Edit] {
        let removals = current.indices.filter { !isTaken[$0] }.map {
            PolicyDifference.Edit(before: current[$0], after: nil, index: nil, table: table)
        }
        return removals
            + wanted.indices.compactMap { index in
                guard let partner = partners[index] else {
                    return PolicyDifference.Edit(before: nil, after: wanted[index], index: index, table: table)
                }
                let before = current[partner]
                guard before.values != wanted[index].values else { return nil }
                let after = PolicyRow(wanted[index], id: before.id)
                return PolicyDifference.Edit(before: before, after: after, index: index, table: table)
            }
    }
}

extension PolicyTable {
    /// The comparisons by which two rows are the same row, from the strictest to the loosest.
    fileprivate var likenesses: [(PolicyRow) -> [AnyHashable]] {
        guard self == .releases else { return [identity(of:)] }
        return [
            { row in zip(columns, row.values).map { $1.identity(as: $0.type) } },
            { identity(of: $0) + [Self.version($0["build"]), $0["regions"]] },
            { identity(of: $0) + [Self.version($0["build"])] },
            { identity(of: $0) },
        ]
    }

    /// The key by which people identify a row; two spellings of the version of a release are equal.
    private func identity(of row: PolicyRow) -> [AnyHashable] {
        zip(columns, row.values).filter { $0.0.role == .identity }.map { column, value in
            column.type == .version ? Self.version(value) : value.identity(as: column.type)
        }
    }

    private static func version(_ value: PolicyValue) -> AnyHashable {
        value.text.flatMap(AppVersion.init).map(AnyHashable.init) ?? AnyHashable(value)
    }
}

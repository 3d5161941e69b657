// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What has to be done to the rows of a policy to make them those of another.
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
    let replannedRules: [String]
    /// The wanted steps of ``replannedRules``, each with its place among the wanted steps.
    let replannedSteps: [(step: PolicyRow, place: Int)]

    /// The number of rows that are to be removed.
    public var removals: Int { edits.count { $0.after == nil } }

    /// Compares two policies.
    ///
    /// Rows are the same row if they have the same key. Releases have none that says anything, so each wanted release
    /// is taken for the present one that it has most in common with: everything, else version, build and regions, else
    /// version and build, else the version.
    public init(from current: PolicyRows, to wanted: PolicyRows) {
        var edits: [Edit] = []
        for table in PolicyTable.allCases {
            var pairing = PolicyRowPairing(current: current[table], wanted: wanted[table])
            for key in table.identities { pairing.pair(by: key) }
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
        replannedSteps = wanted[.rolloutSteps].enumerated().compactMap { place, step in
            replannedSet.contains(step["rule"].text ?? "") ? (step, place) : nil
        }
    }
}

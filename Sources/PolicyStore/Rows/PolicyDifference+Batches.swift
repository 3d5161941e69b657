// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension PolicyDifference {
    /// The statements that make the edits, in an order in which every row finds what it refers to.
    var batches: [PolicyBatch] {
        var batches: [PolicyBatch] = []
        for table in [PolicyTable.rolloutSteps, .ruleTexts, .rules, .releases, .storeLinks] {
            batches.append(.delete(table, removed(table)))
        }
        batches.append(.delete(.rolloutSteps, replannedSteps.map { .init(row: $0.step, place: $0.place) }))
        batches += insertAndUpdate(.apps) + insertAndUpdate(.storeLinks) + insertAndUpdate(.releases)
        // Clearing staged sets live_at, but a file says when a release went live.
        batches.append(.update(.releases, columns: ["live_at"], released))
        batches += insertAndUpdate(.rules) + insertAndUpdate(.ruleTexts) + insertAndUpdate(.rolloutSteps)
        // An app goes last: what belonged to it may belong to another now.
        batches.append(.delete(.apps, removed(.apps)))
        return batches.filter { !$0.items.isEmpty }
    }

    private func insertAndUpdate(_ table: PolicyTable) -> [PolicyBatch] {
        let isReplanned = Set(replannedRules)
        var added: [PolicyBatch.Item] = []
        var changed: [PolicyBatch.Item] = []
        for edit in edits where edit.table == table {
            guard let after = edit.after else { continue }
            if table == .rolloutSteps, isReplanned.contains(after["rule"].text ?? "") { continue }
            if edit.before == nil {
                added.append(.init(row: after, place: edit.place))
            } else {
                changed.append(.init(row: after, place: edit.place))
            }
        }
        if table == .rolloutSteps { added += replannedSteps.map { .init(row: $0.step, place: $0.place) } }
        return [.update(table, changed), .insert(table, added)]
    }

    private func removed(_ table: PolicyTable) -> [PolicyBatch.Item] {
        edits.filter { $0.table == table && $0.after == nil }
            .compactMap { edit in edit.before.map { .init(row: $0, place: nil) } }
    }

    private var released: [PolicyBatch.Item] {
        edits.compactMap { edit in
            guard edit.table == .releases, let before = edit.before, let after = edit.after,
                before["staged"] == .boolean(true), after["staged"] == .boolean(false)
            else { return nil }
            return .init(row: after, place: edit.place)
        }
    }
}

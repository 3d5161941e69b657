// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// The app that a client names, if the policy has anything about it.
    @inline(__always)
    func app(of client: borrowing Client) -> CompiledApp? {
        guard let index = client.withText(.bundle, { appIndexes.number(of: $0) }) ?? nil else { return nil }
        return apps[index]
    }

    /// Appends the rules whose messages a client gets, in order, and which of them lock it out.
    func appendSentRules(_ client: borrowing Client, _ app: CompiledApp?, at time: Int64, to sent: inout [SentRule]) {
        if let app, app.isPaused { return }
        let platform = platformNumbers.number(of: client)
        var offers = OfferSearch(.lenient)
        if let app, let group = app.rules {
            let index = Int32(truncatingIfNeeded: app.index)
            group.appendMatches(client, app, platform, time, &offers, appIndex: index, to: &sent)
        }
        if let group = rulesForEveryApp {
            let count = sent.count
            group.appendMatches(client, app, platform, time, &offers, appIndex: -1, to: &sent)
            if count > 0, sent.count > count, let app, let own = app.rules {
                sent = merged(sent[..<count], of: own, sent[count...], of: group)
            }
        }
        var waysOut = OfferSearch(.strict)
        for index in sent.indices {
            guard let group = group(of: sent[index].id, app) else { continue }
            let rule = Int(sent[index].id.index)
            let flags = group.rules[rule].flags
            if flags.contains(.lockout) {
                sent[index].lockout = group.isLockedOut(by: rule, client, app, platform, time, &waysOut)
            }
            if flags.contains(.final) {
                sent.removeSubrange((index + 1)...)
                break
            }
        }
    }

    /// The group of a rule that a client of an app was sent.
    @inline(__always)
    func group(of rule: RuleID, _ app: CompiledApp?) -> RuleGroup? {
        rule.app < 0 ? rulesForEveryApp : app?.rules
    }

    /// The rules of an app and those for every app in one order.
    private func merged(
        _ left: ArraySlice<SentRule>,
        of leftGroup: RuleGroup,
        _ right: ArraySlice<SentRule>,
        of rightGroup: RuleGroup
    ) -> [SentRule] {
        var merged: [SentRule] = []
        merged.reserveCapacity(left.count + right.count)
        var left = left
        var right = right
        while let own = left.first, let general = right.first {
            let isGeneralFirst = Rule.precedes(
                rightGroup.rows[Int(general.id.index)],
                leftGroup.rows[Int(own.id.index)]
            )
            merged.append(isGeneralFirst ? right.removeFirst() : left.removeFirst())
        }
        return merged + left + right
    }
}

/// A list of the indexes of rules or releases that needs no memory of its own while it is short.
struct IndexList {
    private(set) var count = 0
    private var inline = InlineArray<16, UInt32>(repeating: 0)
    private var overflow: [UInt32] = []

    @inline(__always)
    subscript(index: Int) -> UInt32 {
        index < inline.count ? inline[index] : overflow[index &- inline.count]
    }

    @inline(__always)
    mutating func append(_ index: UInt32) {
        if count < inline.count { inline[count] = index } else { overflow.append(index) }
        count &+= 1
    }
}

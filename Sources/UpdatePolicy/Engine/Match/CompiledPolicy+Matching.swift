extension CompiledPolicy {
    /// The app that a client names, if the policy has anything about it.
    @inline(__always)
    func app(of client: borrowing Client) -> CompiledApp? {
        guard let index = client.withText(.bundle, { appIndexes.number(of: $0) }) ?? nil else { return nil }
        let app = apps[index]
        return app.isEmpty ? nil : app
    }

    /// Appends the rules whose messages a client gets, in order, and which of them lock it out.
    func appendSentRules(_ client: borrowing Client, _ app: CompiledApp?, at time: Int64, to sent: inout [SentRule]) {
        let platform = platformNumbers.number(of: client)
        appendMatches(client, app, platform, time, to: &sent)
        for index in sent.indices {
            guard let group = group(of: sent[index].id, app) else { continue }
            if !group.rules[Int(sent[index].id.index)].flags.isDisjoint(with: [.lockout, .final]) {
                return judgeLockouts(from: index, client, app, platform, time, &sent)
            }
        }
    }

    /// Appends the rules that a client meets, in order, also those behind a final one.
    @inline(__always)
    func appendMatches(
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64,
        to sent: inout [SentRule]
    ) {
        if let app, app.isPaused { return }
        var offers: Offers?
        if let app, let group = app.rules {
            let index = Int32(truncatingIfNeeded: app.index)
            group.appendMatches(client, app, platform, time, &offers, appIndex: index, to: &sent)
        }
        if let group = rulesForEveryApp {
            let count = sent.count
            group.appendMatches(client, app, platform, time, &offers, appIndex: -1, to: &sent)
            if count > 0, sent.count > count, let app, let own = app.rules {
                sent = merged(sent[..<count], sent[count...]) {
                    Rule.precedes(group.rows[Int($0.id.index)], own.rows[Int($1.id.index)])
                }
            }
        }
    }

    /// Says which of the rules from an index on lock the client out, and drops those behind a final one.
    @inline(never)
    private func judgeLockouts(
        from start: Int,
        _ client: borrowing Client,
        _ app: CompiledApp?,
        _ platform: Int32,
        _ time: Int64,
        _ sent: inout [SentRule]
    ) {
        var waysOut = Offers(app?.releases(on: platform), ReleaseAsker(client), at: time, .fail)
        for index in start..<sent.count {
            guard let group = group(of: sent[index].id, app) else { continue }
            let rule = Int(sent[index].id.index)
            // What the person asked for neither locks out nor ends the list.
            if client.isManual, !group.isInRollout(rule, client, at: time) { continue }
            let flags = group.rules[rule].flags
            if flags.contains(.lockout) {
                sent[index].lockout = group.isLockedOut(by: rule, client, &waysOut)
            }
            if flags.contains(.final) {
                sent.removeSubrange((index + 1)...)
                break
            }
        }
    }

    @inline(__always)
    func group(of rule: RuleID, _ app: CompiledApp?) -> RuleGroup? {
        rule.app < 0 ? rulesForEveryApp : app?.rules
    }
}

/// Two lists that are in order in one, where elements of the second may come before those of the first.
func merged<Element>(
    _ first: ArraySlice<Element>,
    _ second: ArraySlice<Element>,
    where comesFirst: (Element, Element) -> Bool
) -> [Element] {
    var merged: [Element] = []
    merged.reserveCapacity(first.count + second.count)
    var (first, second) = (first, second)
    while let left = first.first, let right = second.first {
        merged.append(comesFirst(right, left) ? second.removeFirst() : first.removeFirst())
    }
    return merged + first + second
}

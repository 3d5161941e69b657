// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// What became of each rule for a client at a time, in the order of the messages.
    ///
    /// The rules are those of the client's app and those for every app, enabled or not.
    public func explain(_ client: Client, at time: Timestamp) -> [Explanation] {
        let app = app(of: client)
        let places = [app?.rules, rulesForEveryApp].compactMap { $0 }.flatMap { group in
            group.rows.indices.map { (group: group, number: $0) }
        }
        var explainer = CheckExplainer(self, client, app, time)
        return places.sorted { Rule.precedes($0.group.rows[$0.number], $1.group.rows[$1.number]) }
            .map { explainer.explain($0.number, of: $0.group) }
    }
}

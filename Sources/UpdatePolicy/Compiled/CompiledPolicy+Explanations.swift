// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// What became of each rule for a client at a time, in the order of the messages.
    ///
    /// The rules are those of the client's app and those for every app, enabled or not.
    public func explain(_ client: Client, at time: Timestamp) -> [Explanation] {
        let app = app(of: client)
        var numbers = (app?.rules?.rules ?? []) + (rulesForEveryApp?.rules ?? [])
        numbers.sort()
        var explainer = CheckExplainer(self, client, app, time)
        return numbers.map { explainer.explain(Int($0)) }
    }
}

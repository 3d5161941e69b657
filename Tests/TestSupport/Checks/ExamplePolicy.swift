package import UpdatePolicy

/// A policy with one rule, a check that it answers, and the answer.
package enum ExamplePolicy {
    /// The app of the examples.
    package static let bundle = "com.example.doto"

    /// The payload of 2013.
    package static let payload2013 = """
        {"version":"1.1.0","build":"42","platform":"iOS","region":"en_US","bundle":"com.example.doto","platformname":"iphoneos"}
        """

    /// What the rule of ``policy(revision:)`` answers to a client below 1.2.
    package static let answer = """
        {"messages":[{"id":"update","title":"Please update","text":"Doto 1.2 is there.","link":"https://example.com/doto"}]}
        """

    /// A policy with one rule: everybody below 1.2 is asked to update.
    package static func policy(revision: Int64 = 7) throws -> CompiledPolicy {
        try CompiledPolicy(
            Policy(
                revision: revision,
                token: "token-\(revision)",
                apps: [App(bundle: bundle, name: "Doto", paused: false, storeLinks: [])],
                releases: [],
                rules: [
                    Rule(
                        key: "update", bundle: bundle, enabled: true, versions: "<1.2", rollout: .all,
                        title: "Please update", text: "{app} 1.2 is there.", link: "https://example.com/doto"
                    )
                ]
            )
        )
    }
}

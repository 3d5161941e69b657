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
                apps: [
                    App(bundle: bundle, name: "Doto") {
                        $0.paused = false
                        $0.storeLinks = []
                    }
                ],
                releases: [],
                rules: [
                    Rule(key: "update", title: "Please update", text: "{app} 1.2 is there.") {
                        $0.bundle = bundle
                        $0.enabled = true
                        $0.versions = "<1.2"
                        $0.rollout = .all
                        $0.link = "https://example.com/doto"
                    }
                ]
            )
        )
    }
}

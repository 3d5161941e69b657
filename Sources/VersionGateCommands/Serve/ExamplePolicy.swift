import PolicyStore
import Postgres
import UpdatePolicy

/// The example that `serve --example` gives an empty policy: an app, and a rule that asks people to update.
enum ExamplePolicy {
    private static let bundle = "com.example.hello"
    private static let rule = "hello-update"
    private static let oldVersion = "1.1"

    /// Adds the example if the policy has neither an app nor a rule.
    ///
    /// - Returns: Whether the app of the example is there.
    static func add(_ editing: PolicyEditing) async throws -> Bool {
        let (isEmpty, isThere) = try await editing.prepare(commits: true) { session in
            let row = try session.query(
                """
                SELECT NOT EXISTS (SELECT FROM public.apps) AND NOT EXISTS (SELECT FROM public.rules),
                    EXISTS (SELECT FROM public.apps WHERE bundle = $1)
                """,
                [bundle]
            ).first
            return (try row?.decode(0, as: Bool.self) ?? false, try row?.decode(1, as: Bool.self) ?? false)
        }
        guard isEmpty else { return isThere }
        let osUser = EditOptions.osUser(CommandContext.current.environment)
        _ = try await editing.commit(by: EditAuthor(osUser: osUser, why: "serve --example")) { editor in
            try editor.insert([ColumnValue(\App.bundle, bundle), ColumnValue(\App.name, "Hello")])
            try editor.insert([
                .owner(bundle), ColumnValue(\StoreLink.platform, "ios"),
                ColumnValue(\StoreLink.link, "https://apps.apple.com/app/id123456789"),
            ])
            try editor.insert([
                ColumnValue(\Rule.key, rule), ColumnValue(\Rule.bundle, bundle),
                ColumnValue(\Rule.platforms, ["ios"]), ColumnValue(\Rule.versions, written: "<1.2"),
                ColumnValue(\Rule.title, "Please update"), ColumnValue(\Rule.text, "{app} 1.2 is in the App Store."),
                ColumnValue(\Rule.link, "store"), ColumnValue(\Rule.enabled, true),
            ])
        }
        return true
    }

    /// The lines that say what to try.
    ///
    /// - Parameters:
    ///   - publicURL: Where apps ask.
    ///   - managementURL: Where the pages are.
    ///   - isThere: Whether the app of the example is in the policy.
    ///   - password: The password of the pages, where one was made.
    static func lines(publicURL: String, managementURL: String, isThere: Bool, password: String?) -> [String] {
        let question = #"{"bundle":"\#(bundle)","version":"\#(oldVersion)","platform":"ios"}"#
        let check = "  an app asks    curl \(reachable(publicURL))/v1/check --data '\(question)'"
        let pages =
            "  people look    \(reachable(managementURL))"
            + (password.map { " (any name, password \($0))" } ?? "")
        return (isThere ? [check] : []) + [pages]
    }

    /// An address that can be asked on this machine, for one that means all addresses.
    private static func reachable(_ url: String) -> String {
        url.replacing("//0.0.0.0:", with: "//127.0.0.1:").replacing("//[::]:", with: "//[::1]:")
    }
}

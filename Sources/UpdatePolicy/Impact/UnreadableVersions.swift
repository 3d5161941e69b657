/// The versions among the recent checks of an app that cannot be read.
///
/// Rules with a range of versions or a target reach none of these clients, so a lockout that is meant for them misses.
package struct UnreadableVersions: Sendable, Equatable {
    package struct Example: Sendable, Equatable {
        /// The version as clients sent it; `ClientKind.unkeptVersion` for those that are not kept.
        package let version: String
        package let checks: Int64
    }

    package let bundle: String
    package let checks: Int64
    package let allChecks: Int64
    package let examples: [Example]

    private static let mostExamples = 3

    /// The unreadable ones among the versions of an app; `nil` where there are none.
    ///
    /// - Parameter counts: Versions as clients sent them, any of them several times, with their checks.
    package init?(ofApp bundle: String, among counts: some Sequence<(version: String?, checks: Int64)>) {
        var unreadable: [String: Int64] = [:]
        var all: Int64 = 0
        for (version, checks) in counts {
            all += checks
            if let version, AppVersion(version) == nil { unreadable[version, default: 0] += checks }
        }
        if unreadable.isEmpty { return nil }
        self.bundle = bundle
        checks = unreadable.values.reduce(0, +)
        allChecks = all
        examples = unreadable.map { Example(version: $0.key, checks: $0.value) }
            .sorted { ($1.checks, $0.version) < ($0.checks, $1.version) }
            .prefix(Self.mostExamples).map { $0 }
    }

    /// The unreadable versions of each app among some clients, by the name of the app.
    package static func byApp(among clients: some Sequence<WeightedClient>) -> [UnreadableVersions] {
        Dictionary(grouping: clients) { ASCII.lowercased($0.client.bundle?.string ?? "") }
            .sorted { $0.key < $1.key }
            .compactMap { _, clients in
                UnreadableVersions(
                    ofApp: clients[0].client.bundle?.string ?? "",
                    among: clients.map { (version: $0.client.versionText?.string, checks: $0.checks) }
                )
            }
    }
}

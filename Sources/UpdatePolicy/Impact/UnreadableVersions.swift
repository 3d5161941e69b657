/// The versions among the recent checks of an app that cannot be read.
///
/// Rules with a range of versions or a target reach none of these clients, so a lockout that is meant for them misses.
package struct UnreadableVersions: Sendable {
    package let bundle: String
    package let checks: Int64
    package let allChecks: Int64
    /// The three most frequent as clients sent them; `ClientKind.unkeptVersion` stands for those that are not kept.
    package let examples: [(version: String, checks: Int64)]

    /// The unreadable ones among the versions of an app; `nil` where there are none.
    ///
    /// - Parameter counts: Versions as clients sent them, any of them several times, with their checks.
    package init?(ofApp bundle: String, among counts: [(version: String?, checks: Int64)]) {
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
        let sorted = unreadable.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        examples = sorted.prefix(3).map { (version: $0.key, checks: $0.value) }
    }

    /// The unreadable versions of each app among some clients, by the name of the app.
    package static func byApp(among clients: some Sequence<WeightedClient>) -> [UnreadableVersions] {
        Dictionary(grouping: clients) { ASCII.lowercased($0.client.bundle?.string ?? "") }
            .sorted { $0.key < $1.key }
            .compactMap { _, clients in
                UnreadableVersions(ofApp: clients[0].client.bundle?.string ?? "", among: clients.map(\.counted))
            }
    }
}

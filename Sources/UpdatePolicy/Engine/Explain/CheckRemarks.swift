/// Warns of what a check can mean only by mistake: members that look like known ones, and what nothing in the policy names.
package struct CheckRemarks {
    package private(set) var warnings: [String] = []

    /// - Parameters:
    ///   - isPast: Whether the policy is that of another revision than the present one, to which nothing can be added.
    ///   - otherMembers: Members that are known beside those of a check.
    ///   - command: Makes a command that can be typed of its words.
    package init(
        _ client: Client,
        in policy: Policy,
        isPast: Bool = false,
        otherMembers: Set<String> = [],
        command: (String) -> String = { "versiongate \($0)" }
    ) {
        let bundle = client.bundle?.string ?? ""
        let app = policy.apps.first { $0.isNamed(bundle) }
        let rules = policy.rules.filter { $0.bundle == nil || $0.bundle == app?.bundle }
        addAttributes(client, rules, otherMembers)
        addUnreadable(client)
        if let app {
            addPlatform(client.platform, app, policy, rules)
        } else {
            let similar = SimilarNames.of(bundle, among: policy.apps.map(\.bundle)).first
            let cure =
                similar.map { "; did you mean \($0)?" }
                ?? (isPast || !bundle.isBundleIdentifier
                    ? "" : "; to add it: \(command("app add \(bundle.shellOperand)"))")
            warnings.append(
                "there is no app \(bundle)\(isPast ? " in this policy" : ""), so only rules for every app are asked\(cure)"
            )
        }
    }

    private mutating func addAttributes(_ client: Client, _ rules: [Rule], _ otherMembers: Set<String>) {
        let asked = Dictionary(grouping: rules.flatMap { $0.attributes ?? [] }, by: \.name)
        let known = ClientField.allCases.map(\.name) + otherMembers.union(asked.keys).sorted()
        for (name, value) in client.attributes.map({ ($0.name.string, $0.value.string) }) {
            let values = (asked[name] ?? []).flatMap { $0.values.texts.map(\.string) }
            if !asked.keys.contains(name), let similar = SimilarNames.of(name, among: known).first {
                warnings.append(
                    "\"\(name)\" is not a known member, and is treated as an attribute; did you mean \(similar)?"
                )
            } else if !values.contains(value), let similar = SimilarNames.of(value, among: values).first {
                warnings.append("no rule asks for \(name) \"\(value)\"; did you mean \(similar)?")
            }
        }
    }

    private mutating func addUnreadable(_ client: Client) {
        func noVersion(_ rules: String) -> String {
            "cannot be read as a version, so no rule with \(rules) matches; write 1.2"
        }
        let isLanguage = client.language?.normalized.prefixMatch(of: /[a-z]{1,3}(?:-|$)/) != nil
        let fields = [
            (ClientField.version, client.version != nil, noVersion("versions or a target")),
            (.build, client.build != nil, noVersion("builds")), (.os, client.os != nil, noVersion("os")),
            (
                .language, isLanguage,
                "is not a language tag, so the only language condition it matches is *; write de or pt-BR"
            ),
            (.region, client.region != nil, "names no country, so no rule with regions matches; write JP or ja-JP"),
        ]
        for (field, isRead, reason) in fields where !isRead {
            if let text = client.text(field) { warnings.append("\(field.name) \"\(text)\" \(reason)") }
        }
    }

    private mutating func addPlatform(_ platform: Platform?, _ app: App, _ policy: Policy, _ rules: [Rule]) {
        guard let platform else { return }
        let known = Set(
            policy.releases.filter { $0.bundle == app.bundle }.map(\.platform) + app.storeLinks.map(\.platform)
                + rules.flatMap { $0.platforms ?? [] }
        )
        guard !known.isEmpty, !known.contains(platform.name) else { return }
        warnings.append(
            "no release, store link or rule of \(app.bundle) is on platform \(platform.name); there are "
                + known.sorted().joined(separator: ", ")
        )
    }
}

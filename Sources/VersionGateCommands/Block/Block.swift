// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// A lockout of one version, with all that is added to the policy for it.
struct Block: Sendable {
    let facts: BlockFacts
    let version: AppVersion
    let build: AppVersion?
    /// The platforms that the rule is for; none: all.
    let platforms: [String]
    /// The platforms where it locks out somebody, or is meant to.
    private(set) var places: [BlockPlace]
    let link: String

    var key: String
    var title = "Please update"
    var text = "This version of {app} does not work correctly. Please install the newest version."

    /// The fuse, as it was written; nil: none.
    var fuse: String?

    private var newReleases: [Release] = []
    private var newBuilds: [(release: Int64, build: String)] = []
    private var newLinks: [StoreLink] = []

    /// - Throws: an error if the version or build cannot be read, the platform is not known, or a rule does it already.
    init(version: String, build: String?, platforms: [String], link: String, facts: BlockFacts) throws {
        self.facts = facts
        self.version = try Self.exactVersion(version, bundle: facts.app.bundle)
        self.build = try build.map { try Self.exactBuild($0) }
        self.platforms = platforms.map { Platform($0).name }
        self.link = link
        let (version, build) = (self.version, self.build)
        let known = facts.platforms(of: version, build)
        guard !self.platforms.isEmpty || !known.isEmpty else {
            throw CommandError(
                "no release of \(facts.app.bundle) is recorded, and no check of \(version) was counted, so say for which platform: "
                    + "\(PrintedCommand("block \(facts.app.bundle.shellWord) \(version.text.shellWord) --platform ios"))"
            )
        }
        for platform in self.platforms
        where !(known + Platform.wellKnown).contains(platform) && !facts.isKnown(platform) {
            if let meant = SimilarNames.of(platform, among: Platform.wellKnown + known).first {
                throw CommandError(
                    "no release, store link or check of \(facts.app.bundle) is on \(platform); did you mean --platform \(meant)?"
                )
            }
        }
        if let newest = facts.newest, newest < version, facts.clients(of: version, build, on: []).isEmpty {
            throw CommandError(
                "no release and no check of \(facts.app.bundle) has the version \(version), and its newest release is \(newest); "
                    + "`\(PrintedCommand("release list --bundle \(facts.app.bundle.shellWord)"))` shows its releases"
            )
        }
        places = (self.platforms.isEmpty ? known : self.platforms).map {
            BlockPlace($0, version: version, build: build, facts: facts)
        }
        key = Self.key(version, build, facts.keys)
        try requireNoRule()
    }

    private static func exactVersion(_ text: String, bundle: String) throws -> AppVersion {
        guard let version = AppVersion(text), VersionRange("=\(text)") != nil else {
            throw CommandError(
                "\"\(text)\" is not one version; write it as the app reports it, without a build: "
                    + "\(PrintedCommand("block \(bundle.shellWord) 1.1.3")). For several versions add a rule: "
                    + "\(PrintedCommand("rule add KEY --bundle \(bundle.shellWord) --versions '>=1.1 <1.2' --link store --lockout --enable --title TITLE --text TEXT"))"
            )
        }
        return version
    }

    private static func exactBuild(_ text: String) throws -> AppVersion {
        // 100-110 can be read as a version, with a pre-release, and no build is called that.
        guard let build = AppVersion(text), VersionRange("=\(text)") != nil, VersionRange(text) != nil else {
            throw CommandError(
                "\"\(text)\" is not one build; write it as the app reports it: --build 113. For several builds add a rule: "
                    + "\(PrintedCommand("rule add KEY --bundle BUNDLE --builds '100 - 110' --link store --lockout --enable --title TITLE --text TEXT"))"
            )
        }
        return build
    }

    private static func key(_ version: AppVersion, _ build: AppVersion?, _ taken: Set<String>) -> String {
        let name = ["block", version.text, build?.text].compactMap(\.self).joined(separator: "-").lowercased()
        let allowed = name.map { character in
            character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
                ? character : "-"
        }
        let key = String(allowed.prefix(58))
        return ([key] + (2...(taken.count + 2)).map { "\(key)-\($0)" }).first { !taken.contains($0) } ?? key
    }

    /// Refuses to add a second rule that does the same.
    private func requireNoRule() throws {
        func isSame(_ range: String?, _ wanted: String?) -> Bool {
            range.flatMap { VersionRange($0)?.inWords } == wanted.flatMap { VersionRange($0)?.inWords }
        }
        let same = facts.rules.filter { rule in
            rule.lockout && isSame(rule.versions, versions) && isSame(rule.builds, builds)
                && Set(rule.platforms ?? []) == Set(platforms)
        }
        if let rule = same.first(where: \.enabled) {
            throw CommandError(
                "rule \(rule.key) blocks \(audience) already; `\(PrintedCommand("rule show \(rule.key)"))` shows it, and why it may reach nobody"
            )
        }
        if let rule = same.first {
            throw CommandError(
                "rule \(rule.key) blocks \(audience) and is off; to turn it on: \(PrintedCommand("rule enable \(rule.key)"))"
            )
        }
    }

    private var versions: String { "=\(version.text)" }
    private var builds: String? { build.map { "=\($0.text)" } }

    /// The clients that it locks out, as lists and pages name them.
    var audience: String {
        let platforms = platforms.isEmpty ? nil : platforms
        return Rule(key: "", versions: versions, builds: builds, platforms: platforms, title: "", text: "").audience
    }

    /// The version and build, as what a release is compared with.
    var name: String { build.map { "\(version) (\($0))" } ?? version.text }

    // MARK: What is known

    /// The share of the recent checks that come from the version, in a sentence.
    var share: String {
        let bundle = facts.app.bundle
        let days = "in the last \(facts.recent.days) days"
        let all = facts.recent.known
        guard all > 0 else {
            let fault =
                facts.recent.isKnown
                ? "No checks of \(bundle) were counted \(days)" : "The counts of checks could not be read"
            return "\(fault), so it is not known how many come from \(audience)."
        }
        let blocked = facts.clients(of: version, build, on: platforms).reduce(0) { $0 + $1.checks }
        guard blocked > 0 else {
            return "None of the \(NumberText.count(all)) checks of \(bundle) \(days) came from \(audience). "
                + "They came from \(facts.mostFrequentVersions)."
        }
        return
            "\(NumberText.percent(Double(blocked), of: Double(all))) of the \(NumberText.count(all)) checks of \(bundle) "
            + "\(days) came from \(audience)\(shareOfLastDay)."
    }

    /// How much it was of the checks of the last day, which tells more of a version that is new; builds are not told apart.
    private var shareOfLastDay: String {
        let all = facts.lastDay.reduce(0) { $0 + $1.checks }
        guard build == nil, all > 0 else { return "" }
        let blocked = facts.lastDay.filter { count in
            count.version.flatMap { AppVersion($0) } == version
                && (platforms.isEmpty || platforms.contains(count.platform ?? ""))
        }.reduce(0) { $0 + $1.checks }
        return ", and \(NumberText.percent(Double(blocked), of: Double(all))) of those of the last 24 hours"
    }

    /// What users can go to on each platform, a line each.
    var outlook: [String] {
        var lines = places.map { place in
            guard place.needsRelease else { return place.goal }
            let bundle = facts.app.bundle
            var line =
                "On \(place.platform) no release above \(name) is recorded: users there get the message without the lockout. "
                + "If they can get one: "
            if link == MessageLink.store, !place.hasStoreLink {
                line += "\(place.linking(bundle: bundle)), for the button, and then: "
            }
            return line + place.recording(bundle: bundle)
        }
        if facts.app.paused {
            lines.append(
                "\(facts.app.bundle) is paused: nobody gets the message until: \(PrintedCommand("app resume \(facts.app.bundle.shellWord)"))"
            )
        }
        return lines
    }

    /// What keeps the block from being made, with the commands that fix it, a line each.
    var faults: [String] {
        let bundle = facts.app.bundle
        var lines: [String] = []
        if places.allSatisfy(\.needsRelease) {
            for place in places {
                lines.append(
                    "- No release above \(name) is recorded on \(place.platform), so nobody would be locked out."
                )
                if place.unbuilt != nil {
                    lines.append(
                        "  Release \(version) there has no build, so it may be \(name). If it is another build:"
                    )
                } else if let candidate = place.candidate {
                    lines.append(
                        "  \(candidate.share) of the checks there come from \(candidate.label). If all users can get it:"
                    )
                } else {
                    lines.append("  If users can get one:")
                }
                lines.append("    \(place.recording(bundle: bundle))")
            }
        }
        for place in places where needsLink(place) {
            lines.append(
                "- \(bundle) has no store link for \(place.platform), so the locked screen there would have no button. Add one, "
                    + "or name another link with --link https://...:"
            )
            lines.append("    \(place.linking(bundle: bundle))")
        }
        return lines
    }

    /// Whether a lockout on a platform would have no button.
    func needsLink(_ place: BlockPlace) -> Bool {
        link == MessageLink.store && !place.hasStoreLink && (!place.needsRelease || places.allSatisfy(\.needsRelease))
    }

    /// The command that shows what a client of the version gets; that of most checks, where there are any.
    var checkCommand: String {
        var members = ["bundle=\(facts.app.bundle)", "version=\(version)"]
        let client = facts.clients(of: version, build, on: platforms).max { $0.checks < $1.checks }?.client
        if let build = build ?? client?.build { members.append("build=\(build)") }
        if let platform = client?.platform?.name ?? places.first?.platform { members.append("platform=\(platform)") }
        if let system = client?.os { members.append("os=\(system)") }
        if let region = client?.regionText { members.append("region=\(region.string)") }
        return "\(PrintedCommand("check --explain \(members.map(\.shellWord).joined(separator: " "))"))"
    }

    // MARK: What is added

    /// Records with the rule that users on a platform can get a release now.
    mutating func addRelease(_ version: AppVersion, build: AppVersion?, at index: Int) {
        let release = Release(
            id: 0,
            bundle: facts.app.bundle,
            platform: places[index].platform,
            version: version.text,
            build: build?.text,
            liveAt: facts.time
        )
        newReleases.append(release)
        places[index].goTo(release, at: facts.time)
    }

    /// Records with the rule which build a release has.
    mutating func setBuild(_ build: AppVersion, of release: Release, at index: Int) {
        newBuilds.append((release.id, build.text))
        var release = release
        release.build = build.text
        places[index].goTo(release, at: facts.time)
    }

    /// Adds a store link with the rule.
    mutating func addStoreLink(_ link: String, at index: Int) {
        newLinks.append(StoreLink(platform: places[index].platform, link: link))
        places[index].hasStoreLink = true
    }

    /// Makes the edit.
    func make(_ editor: PolicyEditor) throws {
        for release in newReleases {
            try editor.insert([
                .init(\Release.bundle, release.bundle), .init(\.version, release.version),
                .init(\.platform, release.platform), .init(\.build, release.build), .init(\.liveAt, written: "now"),
            ])
        }
        for (release, build) in newBuilds { try editor.update(where: [.id(release)], set: [.init(\.build, build)]) }
        for link in newLinks {
            try editor.insert([
                .owner(facts.app.bundle), .init(\StoreLink.platform, link.platform), .init(\.link, link.link),
            ])
        }
        try editor.insert(
            [
                .init(\Rule.key, key), .init(\.bundle, facts.app.bundle), .init(\.versions, versions),
                .init(\.builds, builds), .init(\.platforms, platforms.isEmpty ? nil : platforms), .init(\.title, title),
                .init(\.text, text), .init(\.link, link), .init(\.lockout, true), .init(\.enabled, true),
            ] + (fuse.map { [.init(\.fuse, written: $0)] } ?? [])
        )
    }
}

extension BlockPlace.Candidate {
    /// The version, with its build where that tells it apart.
    var label: String { build.map { "\(version) (\($0))" } ?? version.text }
}

extension BlockFacts {
    /// The counted clients of a version.
    ///
    /// - Parameters:
    ///   - build: Only of this build; nil: of all.
    ///   - platforms: Only on these; none: on all.
    func clients(of version: AppVersion, _ build: AppVersion?, on platforms: [String]) -> [WeightedClient] {
        recent.clients.filter { weighted in
            let client = weighted.client
            return client.version == version && (build == nil || client.build == build)
                && (platforms.isEmpty || platforms.contains(client.platform?.name ?? ""))
        }
    }

    /// Whether anything of the app is on a platform.
    func isKnown(_ platform: String) -> Bool {
        (releases + withdrawn).contains { Platform($0.platform).name == platform }
            || app.storeLinks.contains { Platform($0.platform).name == platform }
            || recent.clients.contains { $0.client.platform?.name == platform }
    }

    /// The greatest version of all releases, also of withdrawn ones.
    var newest: AppVersion? { (releases + withdrawn).compactMap { AppVersion($0.version) }.max() }

    /// Whether a version was withdrawn on a platform, so that users cannot get it any more.
    func isWithdrawn(_ version: AppVersion, _ build: AppVersion?, on platform: String) -> Bool {
        withdrawn.contains { release in
            Platform(release.platform).name == platform && AppVersion(release.version).map { $0 == version } ?? false
                && (build == nil || release.build == nil || release.build.flatMap { AppVersion($0) } == build)
        }
    }

    /// The platforms for which a release is recorded, or from which checks of the version came, in order.
    func platforms(of version: AppVersion, _ build: AppVersion?) -> [String] {
        let counted = clients(of: version, build, on: []).compactMap { $0.client.platform?.name }
        return Set(releases.map { Platform($0.platform).name } + counted).sorted()
    }

    /// The versions with most checks: `1.2 (60.0 %), 1.1 (40.0 %)`.
    var mostFrequentVersions: String {
        let most = 5
        var counts: [AppVersion?: Int64] = [:]
        for client in recent.clients { counts[client.client.version, default: 0] += client.checks }
        let sorted = counts.sorted { ($1.value, $0.key?.text ?? "") < ($0.value, $1.key?.text ?? "") }
        let shown = sorted.prefix(most).map { version, checks in
            "\(version?.text ?? "no version that can be read") (\(NumberText.percent(Double(checks), of: Double(recent.known))))"
        }
        return shown.joined(separator: ", ") + (sorted.count > most ? " and others" : "")
    }
}

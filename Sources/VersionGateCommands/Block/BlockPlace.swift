// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// A platform on which a version is blocked, and what users there can go to.
struct BlockPlace: Sendable {
    let platform: String
    /// The releases above the blocked version, the greatest first: those that users can get, else those that are to come.
    private(set) var releases: [Release]
    /// Whether users can get ``releases`` now.
    private(set) var isLive: Bool
    /// A release of the blocked version whose build is not recorded, so that it may be the blocked build.
    let unbuilt: Release?
    /// The greatest version above the blocked one that at least one in a hundred checks of the platform comes from.
    let candidate: Candidate?
    var hasStoreLink: Bool

    /// A version that clients have and that is not recorded.
    struct Candidate: Sendable {
        let version: AppVersion
        /// Only where the version is the blocked one.
        let build: AppVersion?
        /// Its share of the checks of the platform, as text.
        let share: String
    }

    /// The least share of a platform's checks that a version to propose has.
    private static let leastShare = 0.01

    init(_ platform: String, version: AppVersion, build: AppVersion?, facts: BlockFacts) {
        self.platform = platform
        let here = facts.releases.filter { Platform($0.platform).name == platform }
        let above = here.filter { $0.isAbove(version, build: build) }.sorted(by: Self.isGreater)
        let live = above.filter { $0.isLive(at: facts.time) }
        releases = live.isEmpty ? above : live
        isLive = !live.isEmpty
        unbuilt =
            build == nil ? nil : here.first { $0.build == nil && AppVersion($0.version).map { $0 == version } ?? false }
        candidate = Self.candidate(on: platform, version: version, build: build, facts: facts)
        hasStoreLink = facts.app.storeLinks.contains { Platform($0.platform).name == platform }
    }

    /// Takes a release as what users go to.
    mutating func goTo(_ release: Release, at time: Timestamp) {
        releases = [release]
        isLive = release.isLive(at: time)
    }

    private static func isGreater(_ left: Release, _ right: Release) -> Bool {
        guard let version = AppVersion(left.version), let other = AppVersion(right.version) else { return false }
        if version != other { return other < version }
        guard let build = left.build.flatMap({ AppVersion($0) }) else { return false }
        return right.build.flatMap { AppVersion($0) }.map { $0 < build } ?? true
    }

    private static func candidate(
        on platform: String,
        version: AppVersion,
        build: AppVersion?,
        facts: BlockFacts
    ) -> Candidate? {
        struct Kind: Hashable {
            let version: AppVersion
            let build: AppVersion?
        }
        let clients = facts.recent.clients.filter { $0.client.platform?.name == platform }
        let all = clients.reduce(0) { $0 + $1.checks }
        var counts: [Kind: Int64] = [:]
        for client in clients {
            guard let its = client.client.version else { continue }
            let kind = Kind(version: its, build: its == version ? client.client.build : nil)
            let release = Release(
                id: 0,
                bundle: "",
                platform: platform,
                version: its.text,
                build: kind.build?.text
            )
            if release.isAbove(version, build: build), !facts.isWithdrawn(its, kind.build, on: platform) {
                counts[kind, default: 0] += client.checks
            }
        }
        let frequent = counts.filter { Double($0.value) >= leastShare * Double(all) }
        let greatest = frequent.max { left, right in
            if left.key.version != right.key.version { return left.key.version < right.key.version }
            guard let build = right.key.build else { return false }
            return left.key.build.map { $0 < build } ?? true
        }
        return greatest.map { kind, checks in
            Candidate(
                version: kind.version,
                build: kind.build,
                share: NumberText.percent(Double(checks), of: Double(all))
            )
        }
    }

    /// Whether the release that users are to go to is missing.
    var needsRelease: Bool { releases.isEmpty }

    /// What users on the platform go to, in a sentence.
    var goal: String {
        guard let release = releases.first else { return "" }
        var text = "The update for \(Platform(platform).displayName) is \(release.label)"
        var conditions: [String] = []
        if let system = release.minOS { conditions.append("requires \(Platform(platform).displayName) \(system)") }
        if let regions = release.regions { conditions.append("in \(regions.joined(separator: ", "))") }
        if !conditions.isEmpty { text += " (\(conditions.joined(separator: ", ")))" }
        if isLive { return text + "." }
        if release.staged { return text + ", which is staged: nobody is locked out there until it is for everybody." }
        guard let liveAt = release.liveAt else {
            return text + ", which has no date: nobody is locked out there until it has."
        }
        return text + ", which is live from \(TimeText.local(liveAt)): nobody is locked out there until then."
    }

    /// The command that adds the store link.
    func linking(bundle: String) -> String {
        "\(PrintedCommand("app edit \(bundle.shellWord) --store-link \(platform.shellWord)=https://..."))"
    }

    /// The command that records what users are to go to.
    func recording(bundle: String) -> String {
        let bundle = bundle.shellWord
        let place = "--platform \(platform.shellWord)"
        if let unbuilt {
            let build = candidate?.build?.text ?? "BUILD"
            return
                "\(PrintedCommand("release edit \(bundle) \(unbuilt.version.shellWord) \(place) --set-build \(build)"))"
        }
        guard let candidate else { return "\(PrintedCommand("release add \(bundle) VERSION \(place)"))" }
        let build = candidate.build.map { " --build \($0.text.shellWord)" } ?? ""
        return "\(PrintedCommand("release add \(bundle) \(candidate.version.text.shellWord) \(place)\(build)"))"
    }
}

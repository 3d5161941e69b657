// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// An app with its rules, releases and links, as a check needs them.
final class CompiledApp: Sendable {
    /// A store link, prepared from the comma before its name on.
    struct Link: Sendable {
        let platform: Int32
        let link: String
        let bytes: [UInt8]
    }

    /// The bundle as the policy spells it.
    let bundle: String

    /// What stands for `{app}`.
    let displayName: String

    /// Whether the policy has a row for the app, and not just for its bundle.
    let isListed: Bool

    let isPaused: Bool
    let links: [Link]
    let releases: [ReleaseList]

    /// `nil` where the app has no rules of its own.
    let rules: RuleGroup?

    init(
        bundle: String,
        app: App?,
        links: [Link],
        releases: [ReleaseList],
        rules: RuleGroup?
    ) {
        self.bundle = bundle
        displayName = app?.name ?? bundle
        isListed = app != nil
        isPaused = app?.paused ?? false
        self.links = links
        self.releases = releases
        self.rules = rules
    }

    /// The place of the releases on a platform; `nil` where there are none.
    func releaseList(onPlatform platform: Int32) -> Int? {
        releases.firstIndex { $0.platform == platform }
    }
}

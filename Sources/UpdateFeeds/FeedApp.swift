// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// What feeds show of an app beside what its rules say.
struct FeedApp {
    /// The bundle as the policy spells it.
    let bundle: String
    /// The name, else the bundle.
    let name: String
    /// The number in the App Store.
    let storeID: Int64?
    /// Who sells the app, else its name.
    let seller: String

    private let links: [StoreLink]
    private let releases: [Release]

    /// The app that a question is about; `nil` where the policy has nothing about it.
    init?(_ question: FeedQuestion, in policy: CompiledPolicy) {
        let section: PolicySection? =
            switch question.format {
            case .codePush, .codePushBefore: question.bundle.flatMap { policy.section(ofCodePushKey: $0) }
            default:
                question.bundle.map { policy.section(ofApp: $0) }
                    ?? question.storeID.flatMap { policy.section(ofStoreID: $0) }
            }
        guard let section, let bundle = section.app?.bundle ?? question.bundle else { return nil }
        self.bundle = bundle
        name = section.app?.name ?? self.bundle
        links = section.app?.storeLinks ?? []
        releases = section.releases
        storeID = section.app?.numberInStore
        seller = section.app?.seller ?? name
    }

    /// The link to the app for a platform that any client may open in a browser; `nil` where there is none.
    func webLink(on platform: String) -> String? {
        let link = links.first { Platform($0.platform) == Platform(platform) }?.link
        if let link, link.lowercased().hasPrefix("https://") { return link }
        guard Platform(platform).name == "ios", let storeID else { return nil }
        return "https://apps.apple.com/app/id\(storeID)"
    }

    /// The platforms that the app has releases for, in the order of their names.
    var platforms: [String] {
        Set(releases.map { Platform($0.platform).name }).sorted()
    }

    /// The notes of a version on a platform in the best language; `nil` where there are none.
    func notes(of version: AppVersion, on platform: String, in language: LanguageTag?) -> String? {
        for release in releases where Platform(release.platform) == Platform(platform) {
            guard AppVersion(release.version) == version, !release.notes.isEmpty else { continue }
            let tags = release.notes.map { LanguageTag($0.language) }
            let best = language.flatMap { $0.lookup(in: tags) } ?? LanguageTag(ReleaseNote.anyLanguage).lookup(in: tags)
            if let best { return release.notes[best].text }
        }
        return nil
    }

    /// The versions on a platform that have notes, up to one of them.
    func notedVersions(upTo version: AppVersion, on platform: String, in language: LanguageTag?) -> [AppVersion] {
        var versions: [AppVersion] = []
        for release in releases where Platform(release.platform) == Platform(platform) {
            guard let own = AppVersion(release.version), own < version, !versions.contains(own),
                notes(of: own, on: platform, in: language) != nil
            else { continue }
            versions.append(own)
        }
        return versions.sorted()
    }
}

package import UpdatePolicy

package struct FeedApp {
    package let bundle: String
    /// The name, else the bundle.
    package let name: String
    let storeID: Int64?
    /// Who sells the app, else its name.
    let seller: String

    private let links: [StoreLink]
    private let releases: [Release]

    /// The app that a question is about; `nil` where the policy has nothing about it.
    init?(_ question: FeedQuestion, in policy: CompiledPolicy) {
        let section =
            question.bundle.map { policy.section(ofApp: $0) }
            ?? question.storeID.flatMap { policy.section(ofStoreID: $0) }
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

    /// The platform of a question, else that of its User-Agent, which on all of Apple's systems is the same: it says iOS where the
    /// app is on none of the others. `nil` where neither tells.
    package func platform(of question: FeedQuestion) -> String? {
        if let platform = question.platform { return platform }
        guard question.agentPlatform == "ios" else { return question.agentPlatform }
        let known = Set(platforms + links.map { Platform($0.platform).name })
        return known.isDisjoint(with: ["macos", "tvos", "visionos", "watchos"]) ? "ios" : nil
    }

    /// The platforms that the app has releases for, in the order of their names.
    var platforms: [String] {
        Set(releases.map { Platform($0.platform).name }).sorted()
    }

    /// The notes of a version on a platform in the best language; `nil` where there are none.
    package func notes(of version: AppVersion, on platform: String, in language: LanguageTag?) -> String? {
        releases.lazy.filter { Platform($0.platform) == Platform(platform) && AppVersion($0.version) == version }
            .compactMap { notes(of: $0, in: language) }.first
    }

    private func notes(of release: Release, in language: LanguageTag?) -> String? {
        guard !release.notes.isEmpty else { return nil }
        let tags = release.notes.map { LanguageTag($0.language) }
        let best = language.flatMap { $0.lookup(in: tags) } ?? LanguageTag(ReleaseNote.anyLanguage).lookup(in: tags)
        return best.map { release.notes[$0].text }
    }

    /// The versions below one on a platform that have notes, each with those of its first release that has some and that
    /// clients everywhere, or in the region of a question, can get; sorted.
    func notedVersions(below version: AppVersion, on platform: String, for question: FeedQuestion, at time: Timestamp)
        -> [(version: AppVersion, notes: String)]
    {
        let region = question.member("region").flatMap { Region(locale: $0) }?.code
        let noted = releases.compactMap { release -> (AppVersion, String)? in
            guard Platform(release.platform) == Platform(platform), release.isLive(at: time),
                release.regions.map({ regions in region.map(regions.contains) ?? false }) ?? true,
                let own = AppVersion(release.version), own < version,
                let text = notes(of: release, in: question.language)
            else { return nil }
            return (own, text)
        }
        return Dictionary(noted) { first, _ in first }.sorted { $0.key < $1.key }
            .map { (version: $0.key, notes: $0.value) }
    }
}

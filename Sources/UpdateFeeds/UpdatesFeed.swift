import UpdatePolicy

/// The configuration that Updates reads.
///
/// It says `manually` wherever it announces anything: asked to look in the App Store itself, the client would answer by what
/// it finds there, and by nothing where that fails. It heeds the system for the version that it announces, and not for the two
/// least versions: so the latter say what holds on every system.
/// `notify` limits how often it shows the version that it announces, and not the two least versions.
/// `build` and `bundle-version` would replace what the client knows of itself, so they are never sent.
enum UpdatesFeed {
    /// Where there are two announcements, that to every client is a least version, which is shown at every start: so there is
    /// room for one of them where every client is to be shown it a limited number of times.
    static let carried = CarriedFormat(
        naming: .numbers(upTo: 4), systems: .unlessLimited, demandsBySystem: false
    )

    static func text(_ source: FeedSource) -> String {
        let platform = source.question.platform ?? "ios"
        let (some, every) = source.announcements(carried, on: platform)
        guard let said = some ?? every, let prompt = said.prompt else {
            return JSONValue.members(["updates": JSONValue.members(["check-for": "never"])]).text
        }
        let (optional, required) = (some == nil ? nil : every?.prompt, every?.floor)
        // It compares three numbers unless it is told to compare all.
        let hasMore = [prompt, optional, required].contains { announced in
            announced.map { $0.version.text.split(separator: ".").count > 3 } ?? false
        }
        let updates = JSONValue.members([
            "check-for": "manually",
            "notify": prompt.shows.map { limits[Int(mostShows($0)) - 1] } ?? "always",
            "comparing": hasMore ? 8 : 4,
            "update-type": "soft",
            "version": prompt.version.text,
            "min-os-required": said.leastSystem?.text ?? "",
            "min-optional-app-version": optional?.version.text,
            "min-required-app-version": required?.version.text,
            "release-notes": source.notes(of: prompt, on: platform),
            "app-store-id": source.app?.storeID.map { String($0) },
        ])
        return JSONValue.members(["updates": updates]).text
    }

    /// The words for once, twice and so on.
    private static let limits = ["once", "twice", "thrice"]

    /// The greatest limit that the client has a word for and that is not above this one.
    static func mostShows(_ shows: Int64) -> Int64 { min(max(1, shows), Int64(limits.count)) }
}

import UpdatePolicy

/// The look-up of the App Store: one result with every field that its readers need, each of the type that they need.
///
/// Several readers do not heed `minimumOsVersion`, so nothing is announced that depends on a system which is not known. What is
/// demanded stands in the description, where upgrader looks for it: so nothing else does that somebody may have typed.
enum LookupFeed {
    /// Code that was copied from tutorials makes one number of three, of which the second and the third have room for 999.
    static let carried = CarriedFormat(
        naming: .numbers(upTo: 3, greatestBehindFirst: 999),
        lostLockout: "The lockout is left out, except with upgrader: its clients cannot put the update off.",
        needsLink: true, needsStoreID: true
    )

    static func text(_ source: FeedSource) -> String {
        let platform = source.question.platform ?? "ios"
        guard let app = source.app, let storeID = app.storeID, let link = app.webLink(on: platform),
            let said = source.announcement(on: platform, naming: carried.naming), let prompt = said.prompt,
            let liveAt = prompt.release.liveAt
        else { return results([]) }
        let date = seconds(liveAt)
        return results([
            .members([
                "wrapperType": "software",
                "kind": Platform(platform).name == "macos" ? "mac-software" : "software",
                "trackId": storeID,
                "trackName": app.name,
                "bundleId": app.bundle,
                "version": prompt.version.text,
                "minimumOsVersion": prompt.release.minOS ?? "1.0",
                "currentVersionReleaseDate": date,
                "releaseDate": date,
                "releaseNotes": source.notes(of: prompt, on: platform),
                "trackViewUrl": link,
                "description": said.floor.map { "[:mav: \($0.version.text)-0]" } ?? "",
                "sellerName": app.seller,
                "artistName": app.seller,
                "price": 0,
                "formattedPrice": "Free",
            ])
        ])
    }

    private static func results(_ results: [JSONValue]) -> String {
        JSONValue.members(["resultCount": results.count, "results": results]).text
    }

    /// A time without a fraction of a second, which Siren cannot read.
    private static func seconds(_ time: Timestamp) -> String {
        let seconds = time.microsecondsSince1970.flooredQuotient(by: 1_000_000)
        return Timestamp(secondsSince1970: seconds).description
    }
}

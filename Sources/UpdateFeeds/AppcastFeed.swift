import UpdatePolicy

/// The appcast that upgrader and Sparkle read.
///
/// upgrader compares the marketing version and takes one enclosure an item; Sparkle compares builds, and takes an item with a
/// link and no enclosure as an update to be told of, which needs no download and no signature. So each has a flavour.
enum AppcastFeed {
    /// The platforms that upgrader knows by name.
    private static let platformsOfFlutter = ["android", "ios", "linux", "macos", "web", "windows"]

    /// upgrader drops a fourth number.
    static let carriedToFlutter = CarriedFormat(naming: .numbers(upTo: 3), needsLink: true)
    static let carriedToSparkle = CarriedFormat(
        naming: .build, systems: .always,
        lostLockout: "Nobody is locked out: clients cannot skip the update, but the app keeps working.", needsLink: true
    )

    static func text(_ source: FeedSource) -> String {
        let items =
            switch source.question.reader {
            case .flutter: flutterItems(source)
            case .sparkle: sparkleItems(source)
            // The same elements mean different things to the two.
            case nil: [XMLElement]()
            }
        let channel = XMLElement("channel", [], [XMLElement("title", text: source.app?.name ?? "")] + items)
        return XMLElement(
            "rss", [("version", "2.0"), ("xmlns:sparkle", "http://www.andymatuschak.org/xml-namespaces/sparkle")],
            [channel]
        ).document()
    }

    /// For each platform the version that is announced, then a critical item for what is demanded.
    ///
    /// upgrader hides its ways out from installs below a critical item. Its comparison has pre-releases below their release, so
    /// the critical item is the first pre-release of the version: nobody is locked out whom the policy does not lock out.
    private static func flutterItems(_ source: FeedSource) -> [XMLElement] {
        let platforms = source.question.platform.map { [Platform($0).name] } ?? platformsOfFlutter
        return platforms.flatMap { platform -> [XMLElement] in
            guard let link = source.app?.webLink(on: platform), platformsOfFlutter.contains(platform),
                let said = source.announcement(on: platform, naming: carriedToFlutter.naming), let prompt = said.prompt
            else { return [] }
            func item(_ version: String, _ announced: AnnouncedVersion, isCritical: Bool) -> XMLElement {
                XMLElement(
                    "item", [],
                    [
                        XMLElement("title", text: announced.message.title),
                        XMLElement("description", text: source.notes(of: announced, on: platform)),
                        announced.release.liveAt.map {
                            XMLElement("pubDate", text: InternetDate.text($0, zone: "+0000"))
                        },
                        isCritical ? XMLElement("sparkle:tags", [], [XMLElement("sparkle:criticalUpdate")]) : nil,
                        XMLElement(
                            "enclosure",
                            [
                                ("url", link), ("sparkle:version", version), ("sparkle:os", platform), ("length", "0"),
                                ("type", "application/octet-stream"),
                            ]
                        ),
                    ]
                )
            }
            let critical = said.floor.map { item("\($0.version.text)-0", $0, isCritical: true) }
            return [item(prompt.version.text, prompt, isCritical: false)] + [critical].compactMap(\.self)
        }
    }

    /// An item for the systems that a release needs, where that is more, and one for every system.
    private static func sparkleItems(_ source: FeedSource) -> [XMLElement] {
        let platform = source.question.platform ?? "macos"
        guard let link = source.app?.webLink(on: platform) else { return [] }
        let (some, every) = source.announcements(carriedToSparkle, on: platform)
        return [some, every].compactMap { said in
            guard let said, let prompt = said.prompt, let build = prompt.buildNumber else { return nil }
            return XMLElement(
                "item", [],
                [
                    XMLElement("title", text: prompt.message.title),
                    XMLElement("link", text: link),
                    XMLElement(
                        "description", [("sparkle:format", "plain-text")], text: source.notes(of: prompt, on: platform)
                    ),
                    prompt.release.liveAt.map { XMLElement("pubDate", text: InternetDate.text($0, zone: "+0000")) },
                    XMLElement("sparkle:version", text: String(build)),
                    XMLElement("sparkle:shortVersionString", text: prompt.version.text),
                    said.leastSystem.map { XMLElement("sparkle:minimumSystemVersion", text: $0.text) },
                    said.floor?.buildNumber.map { floor in
                        XMLElement("sparkle:criticalUpdate", [("sparkle:version", String(floor))])
                    },
                ]
            )
        }
    }
}

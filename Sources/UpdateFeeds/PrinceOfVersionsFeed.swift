import UpdatePolicy

/// The configuration that Prince of Versions reads, on iOS, macOS and Android.
///
/// `ios` holds the shape of before 4.0, an object, at which later clients turn to `ios2`, an array. The last configuration of
/// the array has no requirements, and where nothing is announced it names a version that every client has: without one, and
/// with an empty array, clients fail.
enum PrinceOfVersionsFeed {
    /// It reads three numbers, but on Android since 4.0.
    static let carried = CarriedFormat(naming: .numbers(upTo: 3), systems: .always)
    static let carriedOnAndroid = CarriedFormat(naming: .build)

    static func text(_ source: FeedSource) -> String {
        // Clients fail without their own platform, whatever the address asks for.
        let isForMac = source.question.platform.map { Platform($0).name == "macos" } ?? false
        return JSONValue.object(
            appleMembers(source, "ios") + (isForMac ? appleMembers(source, "macos") : []) + androidMembers(source)
                + [("meta", .object([]))]
        ).text
    }

    private static func appleMembers(_ source: FeedSource, _ platform: String) -> [(name: String, value: JSONValue?)] {
        let (some, every) = source.announcements(carried, on: platform)
        let limited = some?.leastSystem.map { configuration(source, some, least: $0.text, platform) }
        return [
            (platform, oldConfiguration(every)),
            (platform + "2", .array([limited, configuration(source, every, least: nil, platform)].compactMap(\.self))),
        ]
    }

    private static func configuration(
        _ source: FeedSource,
        _ said: Announcement?,
        least: String?,
        _ platform: String
    ) -> JSONValue {
        .members([
            "required_version": said?.floor?.version.text,
            "last_version_available": said?.prompt?.version.text ?? "0.0.0",
            "notify_last_version_frequency": frequency(said),
            "requirements": least.map { JSONValue.members(["required_os_version": $0]) },
            "meta": meta(source, said, platform),
        ])
    }

    /// The client shows a version at every start or once.
    private static func frequency(_ said: Announcement?) -> String { said?.prompt?.shows == nil ? "ALWAYS" : "ONCE" }

    /// Texts of the message, flat: an object in it makes the client lose the whole array.
    private static func meta(_ source: FeedSource, _ said: Announcement?, _ platform: String) -> JSONValue {
        guard let prompt = said?.prompt else { return .object([]) }
        return .members([
            "title": prompt.message.title,
            "text": prompt.message.text,
            "notes": source.notes(of: prompt, on: platform),
            "link": source.app?.webLink(on: platform),
        ])
    }

    /// The shape of before 4.0.
    ///
    /// - Parameter suffix: What follows the version that is demanded.
    private static func oldConfiguration(_ said: Announcement?, suffix: String = "") -> JSONValue {
        .members([
            "minimum_version": said?.floor.map { threeParts($0) + suffix },
            "latest_version": JSONValue.members([
                "version": said?.prompt.map(threeParts) ?? "0.0.0", "notification_type": frequency(said),
            ]),
        ])
    }

    /// A version of exactly three numbers, which clients of before 4.0 need.
    private static func threeParts(_ announced: AnnouncedVersion) -> String {
        let parts = announced.version.text.split(separator: ".")
        return (parts.map(String.init) + ["0", "0"]).prefix(3).joined(separator: ".")
    }

    /// Android compares version codes, and its requirement is an API level, which the policy does not know.
    private static func androidMembers(_ source: FeedSource) -> [(name: String, value: JSONValue?)] {
        let every = source.announcement(on: "android", naming: carriedOnAndroid.naming)
        // Before 4.0 it took 1.2.0-play for older than 1.2.0, and nothing is older than 1.2.0-0.
        let before = oldConfiguration(source.announcement(on: "android", naming: carried.naming), suffix: "-0")
        let configuration = JSONValue.members([
            "required_version": every?.floor?.buildNumber,
            "last_version_available": every?.prompt?.buildNumber ?? 0,
            "notify_last_version_frequency": frequency(every),
            "meta": meta(source, every, "android"),
        ])
        return [("android", before), ("android2", .array([configuration]))]
    }
}

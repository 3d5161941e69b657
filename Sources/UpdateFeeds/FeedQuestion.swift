package import UpdatePolicy

/// What a request for a feed says about the clients that will read the document.
package struct FeedQuestion: Sendable {
    /// The format; `nil` for a document of the app's own, which a template makes.
    package let format: FeedFormat?

    /// Whose appcast is asked for; `nil` where it is not said, or in other formats.
    package let reader: AppcastReader?

    /// The app's bundle, from the path or the format's own member.
    package let bundle: String?

    /// The app's number in the App Store, from a look-up.
    package let storeID: Int64?

    /// The fields of the request that the document depends on, as `Vary` names them.
    package let vary: [String]

    /// The members that describe the clients, each at most once, without bundle and platform.
    private let members: [(name: String, value: String)]

    let platform: String?

    /// The platform that the User-Agent is of, for formats that are of no platform of their own.
    let agentPlatform: String?

    private let darwin: Int?

    /// - Parameters:
    ///   - bundle: The bundle in the path, if the route has one.
    ///   - country: The country that a look-up's path begins with.
    ///   - query: The decoded members of the query. Where one appears twice, the first counts.
    package init(
        format: FeedFormat?,
        bundle: String? = nil,
        country: String? = nil,
        query: [(name: String, value: String)] = [],
        acceptLanguage: String? = nil,
        userAgent: String? = nil
    ) {
        func asked(_ name: String) -> String? {
            query.first { $0.name == name && !$0.value.isEmpty }?.value
        }
        self.format = format
        reader = format == .appcast ? asked("for").flatMap { AppcastReader(rawValue: ASCII.lowercased($0)) } : nil
        var members: [(name: String, value: String)] = []
        func fill(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty, !members.contains(where: { $0.name == name }) else { return }
            members.append((name, value))
        }
        let own = (format?.ownMembers ?? []).union(["bundle", "platform", "d", "manual"])
        for member in query where !own.contains(member.name) { fill(member.name, member.value) }
        fill("install", asked("d"))
        let isLanguageAsked = members.contains { $0.name == "language" }
        var isAgentRead = !members.contains { $0.name == "os" }
        fill("language", acceptLanguage.flatMap(Self.preferredLanguage))

        var app = bundle
        var platform = asked("platform")
        var store: Int64?
        switch format {
        case .lookup:
            let ofEntity = asked("entity").map(Self.platform(ofEntity:)) ?? "ios"
            platform = platform ?? ofEntity
            app = ofEntity == nil ? nil : asked("bundleId")
            store = ofEntity == nil ? nil : asked("id").flatMap { Int64($0) }
            let code = (country ?? asked("country")).map { $0.utf8.count == 2 ? "und-\($0)" : "" }
            fill("region", code.flatMap { Region(locale: $0) }?.code)
        case .appcast:
            if reader == .sparkle {
                isAgentRead = isAgentRead || !members.contains { $0.name == "version" }
                fill("version", userAgent.flatMap(Self.sparkleVersion))
                fill("os", asked("osVersion"))
            } else {
                isAgentRead = false
            }
        case .iVersion, .updates, .princeOfVersions: break
        // The User-Agent tells the platform, too.
        case nil: isAgentRead = isAgentRead || platform == nil
        }
        self.bundle = app
        self.platform = platform
        storeID = store
        self.members = members
        vary = (isLanguageAsked ? [] : ["Accept-Language"]) + (isAgentRead ? ["User-Agent"] : [])
        let agent = isAgentRead ? userAgent ?? "" : ""
        darwin = Self.number(after: "Darwin/", in: agent)
        agentPlatform =
            darwin != nil ? "ios" : ["okhttp/", "Dalvik/"].contains(where: agent.hasPrefix) ? "android" : nil
    }

    /// The clients of the question on a platform; `nil` where what was sent describes no client.
    func client(of bundle: String, on platform: String) -> Client? {
        var client = Client()
        do {
            try client.set(.bundle, to: .text(UTF8Text(bundle)))
            try client.set(.platform, to: .text(UTF8Text(platform)))
            for member in members { try client.set(UTF8Text(member.name), to: .text(UTF8Text(member.value))) }
        } catch {
            return nil
        }
        return client
    }

    func member(_ name: String) -> String? { members.first { $0.name == name }?.value }

    package var language: LanguageTag? { member("language").map { LanguageTag($0) } }

    /// The numbers that the version of the system begins with, as an Apple User-Agent tells them by the kernel's.
    func systemFamily(on platform: String) -> String? {
        darwin.flatMap { Platform(platform).system(ofDarwin: $0) }
    }

    /// The platform of a kind of things in the App Store; `nil` for those that are no software.
    private static func platform(ofEntity entity: String) -> String? {
        let kinds = ASCII.lowercased(entity).split(separator: ",")
        if kinds.contains("software") || kinds.contains("ipadsoftware") { return "ios" }
        return kinds.contains("macsoftware") ? "macos" : nil
    }

    /// The language with the greatest weight, the first of equal ones.
    private static func preferredLanguage(_ field: String) -> String? {
        var best: (tag: Substring, weight: Double)?
        for part in field.split(separator: ",").prefix(32) {
            let pieces = part.split(separator: ";").map { $0.drop { $0 == " " } }
            guard var tag = pieces.first else { continue }
            while tag.last == " " { tag.removeLast() }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if tag.isEmpty || tag == "*" || weight <= 0 { continue }
            if best.map({ $0.weight < weight }) ?? true { best = (tag, weight) }
        }
        return best.map { String($0.tag) }
    }

    /// The version in `Name/1.2 Sparkle/2.6.0`.
    private static func sparkleVersion(_ agent: String) -> String? {
        let words = agent.split(separator: " ", omittingEmptySubsequences: false)
        guard let sparkle = words.firstIndex(where: { $0.hasPrefix("Sparkle/") }), sparkle > 0,
            let slash = words[..<sparkle].lastIndex(where: { $0.contains("/") })
        else { return nil }
        let text = words[slash..<sparkle].joined(separator: " ")
        return text.split(separator: "/").last.map(String.init)
    }

    private static func number(after name: String, in agent: String) -> Int? {
        let words = agent.split(separator: " ")
        return words.first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count).prefix { $0 != "." }) }
    }
}

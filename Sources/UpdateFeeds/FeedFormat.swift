package enum FeedFormat: String, Sendable, CaseIterable {
    /// The property list of release notes that iVersion reads.
    case iVersion = "iversion.plist"
    case updates = "updates.json"
    /// The configuration that Prince of Versions reads, in its old and new shape.
    case princeOfVersions = "prince-of-versions.json"
    /// The appcast that upgrader and Sparkle read, each its own flavour.
    case appcast = "appcast.xml"
    /// The look-up of the App Store, which Siren and many others read.
    case lookup

    /// Whether its document is one of those of an app, below `/v1/feeds/BUNDLE/`, where templates cannot have its name.
    package var isBelowApp: Bool { self != .lookup }

    package var client: String {
        switch self {
        case .iVersion: "iVersion"
        case .updates: "Updates"
        case .princeOfVersions: "Prince of Versions"
        case .appcast: AppcastReader.allCases.map(\.client).joined(separator: ", ")
        case .lookup: "look-ups of the App Store"
        }
    }

    package var contentType: String {
        switch self {
        case .iVersion: "application/x-plist"
        case .appcast: "application/rss+xml; charset=utf-8"
        case .updates, .princeOfVersions, .lookup: "application/json"
        }
    }

    /// The members of a query that belong to the format and are no attributes of the client.
    package var ownMembers: Set<String> {
        switch self {
        case .appcast:
            [
                "for", "appName", "appVersion", "osVersion", "cputype", "cpu64bit", "cpusubtype", "model", "ncpu",
                "lang", "cpuFreqMHz", "ramMB",
            ]
        case .lookup: ["id", "bundleId", "country", "lang", "entity", "media", "limit", "_cb", "date", "callback"]
        case .iVersion, .updates, .princeOfVersions: []
        }
    }
}

/// Whose appcast is asked for: the same elements mean different things to the two.
package enum AppcastReader: String, Sendable, CaseIterable {
    /// The Flutter package upgrader, which compares versions.
    case flutter
    /// Sparkle, which compares builds.
    case sparkle

    package var client: String { self == .flutter ? "upgrader" : "Sparkle" }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A format that an update client reads.
public enum FeedFormat: String, Sendable, CaseIterable {
    /// The property list of release notes that iVersion reads.
    case iVersion = "iversion.plist"
    /// The configuration that Updates reads.
    case updates = "updates.json"
    /// The configuration that Prince of Versions reads, in its old and new shape.
    case princeOfVersions = "prince-of-versions.json"
    /// The appcast that upgrader and Sparkle read, each its own flavour.
    case appcast = "appcast.xml"
    /// The look-up of the App Store, which Siren and many others read.
    case lookup
    /// The question of CodePush clients whether there is an update.
    case codePush = "update_check"
    /// The same of older ones, with other names.
    case codePushBefore = "updateCheck"
    /// The configuration that AppUpdater reads, as JSON.
    case appUpdaterJSON = "app-updater.json"
    /// The same as XML.
    case appUpdaterXML = "app-updater.xml"
    /// The configuration that Android-Siren reads.
    case androidSiren = "android-siren.json"

    /// The format of a name that people write: that of its document, or `codepush`.
    public init?(name: String) {
        guard let format = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = format
    }

    /// The name that people write.
    public var name: String { self == .codePush ? "codepush" : rawValue }

    /// Whether its document is one of those of an app, below `/v1/feeds/BUNDLE/`, where templates cannot have its name.
    public var isBelowApp: Bool {
        switch self {
        case .lookup, .codePush, .codePushBefore: false
        case .iVersion, .updates, .princeOfVersions, .appcast, .appUpdaterJSON, .appUpdaterXML, .androidSiren: true
        }
    }

    /// The clients that read it.
    public var client: String {
        switch self {
        case .iVersion: "iVersion"
        case .updates: "Updates"
        case .princeOfVersions: "Prince of Versions"
        case .appcast: AppcastReader.allCases.map(\.client).joined(separator: ", ")
        case .lookup: "look-ups of the App Store"
        case .codePush: "CodePush"
        case .codePushBefore: "CodePush, old SDKs"
        case .appUpdaterJSON, .appUpdaterXML: "AppUpdater"
        case .androidSiren: "Android-Siren"
        }
    }

    /// The media type of its documents.
    public var contentType: String {
        switch self {
        case .iVersion: "application/x-plist"
        case .appcast: "application/rss+xml; charset=utf-8"
        case .appUpdaterXML: "application/xml; charset=utf-8"
        case .updates, .princeOfVersions, .lookup, .codePush, .codePushBefore, .appUpdaterJSON, .androidSiren:
            "application/json"
        }
    }

    /// The members of a query that belong to the format and are no attributes of the client.
    public var ownMembers: Set<String> {
        switch self {
        case .appcast:
            [
                "for", "appName", "appVersion", "osVersion", "cputype", "cpu64bit", "cpusubtype", "model", "ncpu",
                "lang", "cpuFreqMHz", "ramMB",
            ]
        case .lookup: ["id", "bundleId", "country", "lang", "entity", "media", "limit", "_cb", "date", "callback"]
        case .codePush:
            ["deployment_key", "app_version", "package_hash", "label", "client_unique_id", "is_companion"]
        case .codePushBefore:
            ["deploymentKey", "appVersion", "packageHash", "label", "clientUniqueId", "isCompanion"]
        case .iVersion, .updates, .princeOfVersions, .appUpdaterJSON, .appUpdaterXML, .androidSiren: []
        }
    }
}

/// Whose appcast is asked for: the same elements mean different things to the two.
public enum AppcastReader: String, Sendable, CaseIterable {
    /// The Flutter package upgrader, which compares versions.
    case flutter
    /// Sparkle, which compares builds.
    case sparkle

    /// The client that reads it.
    public var client: String { self == .flutter ? "upgrader" : "Sparkle" }
}

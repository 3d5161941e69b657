// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The configuration that AppUpdater reads, as JSON or XML. It cannot lock out.
///
/// A version code decides alone where there is one. Where nothing is announced the version is 0, which nobody is below.
enum AppUpdaterFeed {
    static let naming = VersionNaming.numbers(upTo: 5)

    /// Without a `latestVersionCode`, so that it compares versions: the builds that people have are not all known.
    private struct Update {
        let version: String
        let link: String
        let notes: String?
    }

    private static func update(_ source: FeedSource) -> Update? {
        let platform = source.question.platform ?? "android"
        guard let link = source.app?.webLink(on: platform) else { return nil }
        guard let prompt = source.announcement(on: platform, naming: naming)?.prompt else {
            return Update(version: "0", link: link, notes: nil)
        }
        return Update(
            version: prompt.version.text,
            link: link,
            notes: source.notes(of: prompt, on: platform)
        )
    }

    static func json(_ source: FeedSource) -> String {
        guard let update = update(source) else { return "{}" }
        return JSONValue.object([
            ("latestVersion", .string(update.version)),
            ("url", .string(update.link)),
            ("releaseNotes", .array(update.notes.map { [.string($0)] } ?? [])),
        ]).text
    }

    static func xml(_ source: FeedSource) -> String {
        let update = update(source)
        return XMLElement(
            "AppUpdater",
            [
                update.map { update in
                    XMLElement(
                        "update",
                        [
                            XMLElement("latestVersion", text: update.version),
                            XMLElement("url", text: update.link),
                            XMLElement("releaseNotes", text: update.notes ?? ""),
                        ]
                    )
                }
            ]
        ).document()
    }
}

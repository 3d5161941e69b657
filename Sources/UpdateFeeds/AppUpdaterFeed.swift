// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The configuration that AppUpdater reads, as JSON or XML. It cannot lock out.
///
/// A version code decides alone where there is one. Where nothing is announced the version is 0, which nobody is below.
enum AppUpdaterFeed {
    private struct Update {
        let version: String
        let code: Int64?
        let link: String
        let notes: String?
    }

    private static func update(_ source: FeedSource) -> Update? {
        let platform = source.question.platform ?? "android"
        guard let link = source.app?.webLink(on: platform) else { return nil }
        guard let prompt = source.announcement(on: platform)?.prompt, let version = prompt.plainText else {
            return Update(version: "0", code: nil, link: link, notes: nil)
        }
        return Update(
            version: version,
            code: prompt.buildNumber,
            link: link,
            notes: source.notes(of: prompt, on: platform)
        )
    }

    static func json(_ source: FeedSource) -> String {
        guard let update = update(source) else { return "{}" }
        return JSONValue.object([
            ("latestVersion", .string(update.version)),
            ("latestVersionCode", update.code.map { .integer($0) }),
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
                            update.code.map { XMLElement("latestVersionCode", text: String($0)) },
                            XMLElement("url", text: update.link),
                            XMLElement("releaseNotes", text: update.notes ?? ""),
                        ]
                    )
                }
            ]
        ).document()
    }
}

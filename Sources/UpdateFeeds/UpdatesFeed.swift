// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The configuration that Updates reads.
///
/// It says `manually` wherever it announces anything: asked to look in the App Store itself, the client would answer by what
/// it finds there, and by nothing where that fails. It heeds the system for the version that it announces, and not for the two
/// least versions: so the latter say what holds on every system.
/// `build` and `bundle-version` would replace what the client knows of itself, so they are never sent.
enum UpdatesFeed {
    static func text(_ source: FeedSource) -> String {
        let platform = source.question.platform ?? "ios"
        let every = source.announcement(on: platform)
        let some = every.flatMap { source.announcement(beyond: $0, on: platform) }
        guard let said = some ?? every, let prompt = said.prompt, let version = prompt.plainText else {
            return JSONValue.object([("updates", .object([("check-for", .string("never"))]))]).text
        }
        return JSONValue.object([
            (
                "updates",
                .object([
                    ("check-for", .string("manually")),
                    ("notify", .string("always")),
                    ("comparing", .integer(version.split(separator: ".").count > 3 ? 8 : 4)),
                    ("update-type", .string("soft")),
                    ("version", .string(version)),
                    ("min-os-required", .string(said.leastSystem?.text ?? "")),
                    ("min-optional-app-version", some == nil ? nil : every?.prompt?.plainText.map { .string($0) }),
                    ("min-required-app-version", every?.floor?.plainText.map { .string($0) }),
                    ("release-notes", .string(source.notes(of: prompt, on: platform))),
                    ("app-store-id", source.app?.storeID.map { .string(String($0)) }),
                ])
            )
        ]).text
    }
}

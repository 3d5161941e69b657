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
    static let naming = VersionNaming.numbers(upTo: 4)

    static func text(_ source: FeedSource) -> String {
        let platform = source.question.platform ?? "ios"
        let every = source.announcement(on: platform, naming: naming)
        let some = every.flatMap { source.announcement(beyond: $0, on: platform, naming: naming) }
        guard let said = some ?? every, let prompt = said.prompt else {
            return JSONValue.object([("updates", .object([("check-for", .string("never"))]))]).text
        }
        let (optional, required) = (some == nil ? nil : every?.prompt, every?.floor)
        // It compares three numbers unless it is told to compare all.
        let hasMore = [prompt, optional, required].contains { announced in
            announced.map { $0.version.text.split(separator: ".").count > 3 } ?? false
        }
        return JSONValue.object([
            (
                "updates",
                .object([
                    ("check-for", .string("manually")),
                    ("notify", .string("always")),
                    ("comparing", .integer(hasMore ? 8 : 4)),
                    ("update-type", .string("soft")),
                    ("version", .string(prompt.version.text)),
                    ("min-os-required", .string(said.leastSystem?.text ?? "")),
                    ("min-optional-app-version", optional.map { .string($0.version.text) }),
                    ("min-required-app-version", required.map { .string($0.version.text) }),
                    ("release-notes", .string(source.notes(of: prompt, on: platform))),
                    ("app-store-id", source.app?.storeID.map { .string(String($0)) }),
                ])
            )
        ]).text
    }
}

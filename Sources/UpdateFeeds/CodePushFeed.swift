// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The answer to a CodePush client: that a new binary is needed, or nothing.
///
/// The client calls its handler of a binary mismatch with the version that is demanded. There are no packages.
enum CodePushFeed {
    static func text(_ source: FeedSource) -> String {
        let isNew = source.question.format == .codePush
        guard source.question.isComplete else { return "{}" }
        let floor = floor(source)
        let version = source.question.member("version") ?? ""
        func name(_ new: String, _ before: String) -> String { isNew ? new : before }
        return JSONValue.object([
            (
                name("update_info", "updateInfo"),
                .object([
                    (name("is_available", "isAvailable"), .boolean(false)),
                    (name("is_mandatory", "isMandatory"), .boolean(false)),
                    (name("update_app_version", "updateAppVersion"), .boolean(floor != nil)),
                    (name("should_run_binary_version", "shouldRunBinaryVersion"), .boolean(false)),
                    (name("target_binary_range", "targetBinaryRange"), .string(floor ?? version)),
                    (name("app_version", "appVersion"), .string(floor ?? version)),
                    (name("download_url", "downloadURL"), .string("")),
                    (name("package_hash", "packageHash"), .string("")),
                    ("label", .string("")),
                    (name("package_size", "packageSize"), .integer(0)),
                    ("description", .string("")),
                ])
            )
        ]).text
    }

    /// What is demanded on every platform that the client may be of: its question does not say.
    private static func floor(_ source: FeedSource) -> String? {
        let question = source.question
        let platforms =
            (question.platform ?? question.agentPlatform).map { [$0] }
            ?? source.app?.platforms.filter { ["android", "ios"].contains($0) } ?? []
        let floors = platforms.map { source.announcement(on: $0, naming: .any)?.floor?.version }
        guard !floors.contains(where: { $0 == nil }) else { return nil }
        return floors.compactMap(\.self).min()?.text
    }
}

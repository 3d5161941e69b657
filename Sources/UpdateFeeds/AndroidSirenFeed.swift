// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The configuration that Android-Siren reads: one version, and whether it is forced.
///
/// The version code is preferred: the name counts only among as many numbers, and a skipped name stays skipped even where it
/// is forced. What is demanded goes before what is announced, for the format has room for one of them.
enum AndroidSirenFeed {
    static let naming = VersionNaming.buildOrNumbers(upTo: 3)

    static func text(_ source: FeedSource) -> String {
        let said = source.announcement(on: source.question.platform ?? "android", naming: naming)
        let demanded = said?.floor.map(version)
        let announced = said?.prompt.map(version)
        let message = (demanded == nil ? said?.prompt : said?.floor)?.message.text
        let members: [(name: String, value: JSONValue?)] = demanded ?? announced ?? []
        return JSONValue.object([
            (
                source.app?.bundle ?? source.question.bundle ?? "",
                .object(
                    members + [
                        ("enable", .boolean(!members.isEmpty)),
                        ("force", .boolean(demanded != nil)),
                        ("message", .string(members.isEmpty ? "" : message ?? "")),
                    ]
                )
            )
        ]).text
    }

    private static func version(_ announced: AnnouncedVersion) -> [(name: String, value: JSONValue?)] {
        if let build = announced.buildNumber { return [("minVersionCode", .integer(build))] }
        return [("minVersionName", .string(announced.version.text))]
    }
}

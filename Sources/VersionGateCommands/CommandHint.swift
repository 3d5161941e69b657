// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Hints for refusals and warnings of the database, with commands instead of SQL.
///
/// The database gives its hints in SQL, for those who use SQL.
enum CommandHint {
    /// The hint for what the database named by a constraint; nil where its own hint fits the command line too.
    ///
    /// - Parameters:
    ///   - constraint: The name that the database gave.
    ///   - detail: Its detail, which names the rows.
    static func hint(constraint: String?, detail: String?) -> String? {
        let words = detail.map { $0.split(separator: " ").map(String.init) } ?? []
        switch constraint {
        case "rules_lockout_guard" where detail?.contains("no build recorded") == true:
            return """
                Say which version has the build: --versions 1.1.3. Or record the builds of the releases that users are to \
                get: versiongate release edit BUNDLE VERSION --platform PLATFORM --set-build BUILD. Or let it be asked \
                for: versiongate block BUNDLE VERSION --build BUILD. Only for maintenance or the end of a platform, where \
                users shall have no way on: --lockout-without-update.
                """
        case "rules_lockout_guard":
            return """
                If only one version is meant, name it: --versions 1.1.3. Or first record the release that users are to \
                get, staged or in the future too: versiongate release add BUNDLE VERSION --platform PLATFORM. Or leave the \
                rule disabled. Only for maintenance or the end of a platform, where users shall have no way on: \
                --lockout-without-update.
                """
        case "rules_rollout_guard":
            return
                "Replace the steps: versiongate rule rollout KEY PERCENT, or versiongate rule ramp KEY PERCENT@TIME..."
        case "rollout_steps_rollout_guard":
            return "A ramp only goes up. To take a rule back: versiongate rule rollout KEY PERCENT"
        case "store_links_bundle_fkey", "releases_bundle_fkey":
            return "Add it first: versiongate app add BUNDLE"
        case "rules_bundle_fkey":
            return "Add it first: versiongate app add BUNDLE. Without --bundle a rule is for every app."
        case "rules_link_missing":
            return "versiongate rule edit \(words.dropFirst().first ?? "KEY") --link store"
        case "store_links_missing":
            let platform = words.last.map { $0.dropLast() } ?? "ios"
            return "versiongate app edit \(words.first ?? "BUNDLE") --store-link \(platform)=https://..."
        case "planner_guard":
            return "See what it would do: add --dry-run, or versiongate plan FILE. An admin can do it."
        default:
            return nil
        }
    }
}

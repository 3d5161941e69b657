// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures

/// Hints for refusals and warnings of the database, with commands instead of SQL.
///
/// The database gives its hints in SQL, for those who use SQL.
enum CommandHint {
    /// Where the refused value was written.
    enum Place {
        /// In the options of a command.
        case options
        /// In a policy file, whose keys are the names of the columns.
        case policyFile
    }

    /// A phrase of the database's hints, and what stands for it.
    private struct Phrase {
        let sql: String
        let options: String
        let policyFile: String

        init(_ sql: String, options: String, policyFile: String? = nil) {
            self.sql = sql
            self.options = options
            self.policyFile = policyFile ?? sql
        }
    }

    private static let phrases: [Phrase] =
        ["NULL in place of the list means no condition", "NULL means no condition"].map {
            Phrase(
                $0,
                options: "For no condition leave the option out, or take it away with --clear",
                policyFile: "For no condition leave the key out"
            )
        } + [
            Phrase(": {ios,android}", options: "", policyFile: ": [ios, android]"),
            Phrase("Set bundle: the target", options: "Give --bundle: the target"),
            Phrase("Set ends_at to a time after starts_at", options: "Give --ends-at a time after --starts-at"),
            Phrase("Set target, or take", options: "Give --target, or take"),
            Phrase("a language goes into languages", options: "a language goes into --language"),
            Phrase("The condition on it is the column versions.", options: "The condition on it is --versions."),
            Phrase("The condition on it is the column builds.", options: "The condition on it is --builds."),
            Phrase("The condition on it is the column os.", options: "The condition on it is --os."),
            Phrase("The condition on it is the column platforms.", options: "The condition on it is --platform."),
            Phrase("The condition on it is the column regions.", options: "The condition on it is --region."),
            Phrase("The condition on it is the column languages.", options: "The condition on it is --language."),
            Phrase("The condition on it is the column bundle.", options: "The condition on it is --bundle."),
            Phrase("To show the message once, set shows to 1", options: "To show the message once, give --shows 1"),
            Phrase(
                "; NULL means without limit",
                options: "; for no limit leave the option out, or take it away with --clear",
                policyFile: "; for no limit leave the key out"
            ),
            Phrase(
                "NULL means that the message is shown at every start",
                options: "Leave the option out, or take it away with --clear: the message is shown at every start",
                policyFile: "Leave the key out: the message is shown at every start"
            ),
            Phrase("see the column rollout", options: "\(PrintedCommand("rule rollout KEY PERCENT"))"),
        ]

    /// The hint for what the database named by a constraint; nil where its own hint fits the command line too.
    ///
    /// - Parameters:
    ///   - constraint: The name that the database gave.
    ///   - detail: Its detail, which names the rows.
    ///   - hint: Its hint.
    ///   - place: Where the value was written.
    static func hint(
        constraint: String?,
        detail: String?,
        hint: String? = nil,
        place: Place = .options
    ) -> String? {
        let words = detail.map { $0.split(separator: " ").map(String.init) } ?? []
        switch constraint {
        case "rules_lockout_guard" where detail?.contains("no build recorded") == true:
            return """
                Say which version has the build: --versions 1.1.3. Or record the builds of the releases that users are to \
                get: \(PrintedCommand("release edit BUNDLE VERSION --platform PLATFORM --set-build BUILD")). Or let it be asked \
                for: \(PrintedCommand("block BUNDLE VERSION --build BUILD")). Only for maintenance or the end of a platform, where \
                users shall have no way on: --lockout-without-update.
                """
        case "rules_lockout_guard":
            return """
                If only one version is meant, name it: --versions 1.1.3. Or first record the release that users are to \
                get, staged or in the future too: \(PrintedCommand("release add BUNDLE VERSION --platform PLATFORM")). Or leave the \
                rule disabled. Only for maintenance or the end of a platform, where users shall have no way on: \
                --lockout-without-update.
                """
        case "rules_rollout_guard":
            return
                "Replace the steps: \(PrintedCommand("rule rollout KEY PERCENT")), or "
                + "\(PrintedCommand("rule ramp KEY PERCENT@TIME..."))"
        case "rollout_steps_rollout_guard":
            return "A ramp only goes up. To take a rule back: \(PrintedCommand("rule rollout KEY PERCENT"))"
        case "rollout_steps_stopped":
            let share = words.dropFirst(3).first ?? "PERCENT"
            return "For a share from now on: \(PrintedCommand("rule rollout \(second(words) ?? "KEY") \(share)%"))"
        case "store_links_bundle_fkey", "releases_bundle_fkey", "feed_templates_bundle_fkey":
            return "Add it first: \(PrintedCommand("app add BUNDLE"))"
        case "rules_bundle_fkey":
            return "Add it first: \(PrintedCommand("app add BUNDLE")). Without --bundle a rule is for every app."
        case "rules_link_missing":
            return "\(PrintedCommand("rule edit \(words.dropFirst().first ?? "KEY") --link store"))"
        case "store_links_missing":
            let platform = words.last.map { $0.dropLast() } ?? "ios"
            return "\(PrintedCommand("app edit \(words.first ?? "BUNDLE") --store-link \(platform)=https://..."))"
        case "planner_guard":
            return "See what it would do: add --dry-run, or \(PrintedCommand("plan FILE")). An admin can do it."
        case "rules_rollout_small":
            let hundredth = words.last.flatMap { Double(withoutFullStop($0)) } ?? 0
            let meant = Int((hundredth * 100).rounded())
            return "If \(meant) % is meant: \(PrintedCommand("rule rollout \(second(words) ?? "KEY") \(meant)%"))"
        case "rules_ended":
            return
                "For another end: \(PrintedCommand("rule edit \(second(words) ?? "KEY") --ends-at +2h")); for none: --clear ends-at"
        case "lockout_needs_consent":
            return "Say that it is meant: answer the question, or give --yes. Else name an app and an end."
        case "rules_soak_without_effect":
            return "Give --target or --lockout as well: no other rule asks how long a release has been live."
        case "rules_lockout_without_effect":
            return "Give --lockout as well."
        case "rules_hints_without_effect":
            return
                "A lockout is shown at every start. To take them away: "
                + "\(PrintedCommand("rule edit \(second(words) ?? "KEY") --clear remind --clear shows --no-skippable"))"
        case "rules_target_waits":
            let version = words.dropFirst(4).first.map(withoutFullStop) ?? "VERSION"
            // com.example.doto has no release 1.2 on ios.
            let platform = words.count == 7 ? withoutFullStop(words[6]) : "PLATFORM"
            let add = PrintedCommand("release add \(words.first ?? "BUNDLE") \(version) --platform \(platform)")
            return "Once users can get it: \(add)"
        case "releases_staged_live_at":
            return
                "Leave --live-at out; when users can get it: \(PrintedCommand("release edit \(release(words)) --no-staged"))"
        case "releases_no_live_at":
            return "Once users can get it: \(PrintedCommand("release edit \(release(words)) --live-at now"))"
        case "releases_again":
            return
                "To change that one, take this back and use: \(PrintedCommand("release edit \(release(words))"))"
        case "rules_way_out":
            return "Clients there get the message without the lockout. What is so now: \(PrintedCommand("rule list"))"
        case "rules_lockout_endless":
            return "For an end: \(PrintedCommand("rule edit \(second(words) ?? "KEY") --ends-at +2h"))"
        case "rules_platforms_check" where place == .options && hint?.contains("{ios,android}") == true:
            return "Write each platform by itself: --platform ios --platform android"
        default:
            guard let hint else { return nil }
            return phrases.reduce(hint) { hint, phrase in
                hint.replacing(phrase.sql, with: place == .options ? phrase.options : phrase.policyFile)
            }
        }
    }

    /// `1.2 of com.example.doto on ios` as arguments.
    private static func release(_ words: [String]) -> String {
        guard words.count == 6 else { return "BUNDLE VERSION --platform PLATFORM" }
        return "\(words[3]) \(words[1]) --platform \(withoutFullStop(words[5]))"
    }

    private static func second(_ words: [String]) -> String? { words.dropFirst().first }

    private static func withoutFullStop(_ word: String) -> String {
        word.hasSuffix(".") ? String(word.dropLast()) : word
    }
}

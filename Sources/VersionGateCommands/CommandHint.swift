import PolicyStore
import UpdatePolicy

/// What to do about a refusal or a warning of the database, for commands and policy files.
///
/// The database gives its hints in SQL, for those who use SQL. Where that differs it names the fault, which is worded here.
struct CommandHint {
    /// Where the refused value was written.
    enum Place {
        /// In the options of a command.
        case options
        /// In a policy file, whose keys are the names of the columns.
        case policyFile
    }

    let place: Place

    /// The cure of a fault; nil where there is none.
    ///
    /// - Parameters:
    ///   - fault: What the database named.
    ///   - hint: Its hint, which fits everywhere if no kind of fault is named.
    func cure(_ fault: PolicyFault?, hint: String?) -> String? {
        guard let fault, let kind = fault.kind else { return hint }
        return place == .options ? Self.command(kind, fault) : Self.policyFile(kind, fault) ?? Self.command(kind, fault)
    }

    /// The cure where it is another in a policy file.
    private static func policyFile(_ kind: PolicyFault.Kind, _ fault: PolicyFault) -> String? {
        switch kind {
        case .absent: sentences(fault["hint"], "For \(fault["meaning"] ?? "none") leave the key out.")
        case .platformList: "Write each platform by itself: [ios, android]"
        case .attributeIsMember:
            fault["column"] == "rollout"
                ? "It is used for rollouts alone: see the key rollout."
                : "The condition on it is \(fault["column"] ?? "a key of its own")."
        case .targetWithoutApp: "Set bundle: the target is one of its releases."
        case .targetMissing: "Set target, or take {target} out."
        case .dateMissing: "Set ends_at, or take {date} out."
        case .endBeforeStart: "Set ends_at to a time after starts_at."
        case .heldWithoutSteps: "Give it steps, or take held_at out of the file."
        case .showOnce: "To show the message once, set shows to 1."
        case .withdrawnBeforeLive:
            "Set withdrawn_at to live_at for a release that never got to users, or take it out of the file."
        default: nil
        }
    }

    private static func command(_ kind: PolicyFault.Kind, _ fault: PolicyFault) -> String {
        // These stand in commands that people paste.
        func word(_ name: String, or placeholder: String) -> String { fault[name]?.shellWord ?? placeholder }
        let rule = word("rule", or: word("key", or: "KEY"))
        let (bundle, platform) = (word("bundle", or: "BUNDLE"), word("platform", or: "PLATFORM"))
        let release = "\(bundle) \(word("version", or: "VERSION")) --platform \(platform)"
        switch kind {
        case .absent:
            return sentences(
                fault["hint"],
                "For \(fault["meaning"] ?? "none") leave the option out, or take it away with --clear."
            )
        case .platformList: return "Write each platform by itself: --platform ios --platform android"
        case .attributeIsMember:
            switch fault["column"] {
            case "rollout": return "It is used for rollouts alone: \(PrintedCommand("rule rollout KEY PERCENT"))"
            case "platforms": return "The condition on it is --platform."
            case "regions": return "The condition on it is --region."
            case "languages": return "The condition on it is --language."
            case let column: return "The condition on it is --\(column ?? "versions")."
            }
        case .targetWithoutApp: return "Give --bundle: the target is one of its releases."
        case .targetMissing: return "Give --target, or take {target} out."
        case .dateMissing: return "Give --ends-at, or take {date} out."
        case .endBeforeStart: return "Give --ends-at a time after --starts-at."
        case .showOnce: return "To show the message once, give --shows 1."
        case .valueMissing: return "Write a value."
        case .withdrawnBeforeLive:
            return "Give both the same time for a release that never got to users, or remove it."
        case .noApp:
            return "Add it first: \(PrintedCommand("app add BUNDLE"))"
                + (fault["place"] == "rules.bundle" ? ". Without --bundle a rule is for every app." : "")
        case .noRule: return "The rules: \(PrintedCommand("rule list"))"
        case .noRelease: return "The releases: \(PrintedCommand("release list"))"
        case .noChange: return "The changes: \(PrintedCommand("history"))"
        case .undoConflict:
            let before = fault["change"].flatMap(Int64.init).map { "\($0 - 1)" } ?? "CHANGE"
            return
                "Undo the later changes first, the newest of them first. Or bring back the whole policy as it stood before, "
                + "whoever changed it since: \(PrintedCommand("undo --to \(before)"))"
        case .planner:
            return "See what it would do: add --dry-run, or \(PrintedCommand("plan FILE")). An admin can do it."
        case .lockoutWithoutBuild:
            return """
                Say which version has the build: --versions 1.1.3. Or record the builds of the releases that users are to \
                get: \(PrintedCommand("release edit BUNDLE VERSION --platform PLATFORM --set-build BUILD")). Only for \
                maintenance or the end of a platform, where users shall have no way on: --lockout-without-update.
                """
        case .lockoutWithoutWayOut:
            return """
                If only one version is meant, name it: --versions 1.1.3. Or first record the release that users are to \
                get, staged or in the future too: \(PrintedCommand("release add BUNDLE VERSION --platform PLATFORM")). Or leave the \
                rule disabled. Only for maintenance or the end of a platform, where users shall have no way on: \
                --lockout-without-update.
                """
        case .consentMissing:
            return "Say that it is meant: answer the question, or give --yes. Else name an app and an end."
        case .stepsBesideRollout:
            return
                "Replace the steps: \(PrintedCommand("rule rollout \(rule) PERCENT")), or "
                + "\(PrintedCommand("rule ramp \(rule) PERCENT@TIME..."))"
        case .stepsFall:
            return "A ramp only goes up. To take the rule back: \(PrintedCommand("rule rollout \(rule) PERCENT"))"
        case .heldWithoutSteps, .nothingToHold:
            return
                "To reach fewer installs: \(PrintedCommand("rule rollout \(rule) PERCENT")); to reach nobody: "
                + "\(PrintedCommand("rule disable \(rule)"))"
        case .holdSkipsSteps:
            return
                "To go on with the step that comes next: \(PrintedCommand("rule resume \(rule)")); for a share of its own: "
                + "\(PrintedCommand("rule rollout \(rule) PERCENT"))"
        case .holdSkipped:
            return
                "A hold that ends by \(PrintedCommand("rule resume \(rule)")) goes on with the step that comes next."
        case .rolloutStepsStopped:
            return
                "For a share from now on: \(PrintedCommand("rule rollout \(rule) \(fault["percent"] ?? "PERCENT")%"))"
        case .ruleEnded:
            return
                "For another end: \(PrintedCommand("rule edit \(rule) --ends-at +2h")); for none: --clear ends-at"
        case .hintsWithoutEffect:
            return
                "A lockout is shown at every start. To take them away: "
                + "\(PrintedCommand("rule edit \(rule) --clear remind --clear shows --no-skippable"))"
        case .linkMissing: return "\(PrintedCommand("rule edit \(rule) --link store"))"
        case .lockoutEndless: return "For an end: \(PrintedCommand("rule edit \(rule) --ends-at +2h"))"
        case .lockoutWithoutEffect: return "Give --lockout as well."
        case .fuseWithoutEffect: return "Give --lockout as well: there is nothing else that it could take away."
        case .rolloutSmall:
            let meant = fault["percent"] ?? "PERCENT"
            return "If \(meant) % is meant: \(PrintedCommand("rule rollout \(rule) \(meant)%"))"
        case .soakWithoutEffect:
            return "Give --target or --lockout as well: no other rule asks how long a release has been live."
        case .targetWaits: return "Once users can get it: \(PrintedCommand("release add \(release)"))"
        case .wayOutLost:
            return "Clients there get the message without the lockout. What is so now: \(PrintedCommand("rule list"))"
        case .waysOutUnknown: return "What is so now: \(PrintedCommand("rule list"))"
        case .massEdit, .massRemoval: return "To take it back: \(PrintedCommand("undo"))"
        case .releaseAgain:
            return "To change that one, take this back and use: "
                + "\(PrintedCommand("release edit \(release) --live-at TIME"))"
        case .releaseWithoutTime:
            return "Once users can get it: \(PrintedCommand("release edit \(release) --live-at now"))"
        case .releaseWithoutSystem:
            let system = word("min_os", or: "VERSION")
            return
                "As it is, everybody counts as able to install it. If it needs \(system) too: "
                + "\(PrintedCommand("release edit \(release) --min-os \(system)"))"
        case .stagedWithTime:
            return
                "Leave --live-at out; when users can get it: \(PrintedCommand("release edit \(release) --no-staged"))"
        case .storeLinkMissing:
            return "\(PrintedCommand("app edit \(bundle) --store-link \(platform)=https://..."))"
        }
    }

    private static func sentences(_ first: String?, _ second: String) -> String {
        guard let first, !first.isEmpty else { return second }
        return "\(first)\(first.hasSuffix(".") ? "" : ".") \(second)"
    }
}

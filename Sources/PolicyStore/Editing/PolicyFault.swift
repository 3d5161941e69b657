import Foundation
package import Postgres

/// What a refusal or a warning of the database is about, as the JSON in the field of the data type says it.
///
/// The hint beside it is written in SQL, for those who use SQL; whoever writes in another way words the cure by this.
package struct PolicyFault: Sendable {
    /// The faults whose cure differs between SQL and commands: the values of the type `versiongate_internal.fault`.
    package enum Kind: String, CaseIterable, Sendable {
        case absent
        case platformList = "platform_list"
        case attributeIsMember = "attribute_is_member"
        case targetWithoutApp = "target_without_app"
        case targetMissing = "target_missing"
        case dateMissing = "date_missing"
        case endBeforeStart = "end_before_start"
        case showOnce = "show_once"
        case valueMissing = "value_missing"
        case withdrawnBeforeLive = "withdrawn_before_live"
        case noApp = "no_app"
        case noRule = "no_rule"
        case noRelease = "no_release"
        case noChange = "no_change"
        case undoConflict = "undo_conflict"
        case planner
        case lockoutWithoutWayOut = "lockout_without_way_out"
        case lockoutWithoutBuild = "lockout_without_build"
        case consentMissing = "consent_missing"
        case stepsBesideRollout = "steps_beside_rollout"
        case stepsFall = "steps_fall"
        case heldWithoutSteps = "held_without_steps"
        case holdSkipsSteps = "hold_skips_steps"
        case holdSkipped = "rules_hold_skipped"
        case nothingToHold = "nothing_to_hold"
        case rolloutStepsStopped = "rollout_steps_stopped"
        case fuseWithoutEffect = "rules_fuse_without_effect"
        case ruleEnded = "rules_ended"
        case hintsWithoutEffect = "rules_hints_without_effect"
        case linkMissing = "rules_link_missing"
        case lockoutEndless = "rules_lockout_endless"
        case lockoutWithoutEffect = "rules_lockout_without_effect"
        case rolloutSmall = "rules_rollout_small"
        case soakWithoutEffect = "rules_soak_without_effect"
        case targetWaits = "rules_target_waits"
        case wayOutLost = "rules_way_out"
        case waysOutUnknown = "rules_ways_out_unknown"
        case massEdit = "mass_edit"
        case massRemoval = "mass_removal"
        case releaseAgain = "releases_again"
        case releaseWithoutTime = "releases_no_live_at"
        case releaseWithoutSystem = "releases_no_min_os"
        case stagedWithTime = "releases_staged_live_at"
        case storeLinkMissing = "store_links_missing"
    }

    /// What is wrong; nil where the hint of the database fits everywhere.
    package let kind: Kind?
    /// The columns that tell the row which a guard has refused; nil is NULL.
    package let row: [String: String?]
    private let values: [String: String]

    /// One of the values, or of the columns of the row.
    package subscript(name: String) -> String? {
        if let value = values[name] { return value }
        return row[name].flatMap(\.self)
    }

    /// What an error of the database is about; nil if PostgreSQL refused by itself.
    package init?(_ error: PostgresError) { self.init(error.dataType) }

    /// What a warning of the database is about; nil if it is PostgreSQL's own.
    package init?(_ notice: PostgresNotice) { self.init(notice.dataType) }

    init?(_ json: String?) {
        struct Fields: Decodable {
            let fault: String?
            let row: [String: String?]?
            let values: [String: String?]?
        }
        guard let json, let fields = try? JSONDecoder().decode(Fields.self, from: Data(json.utf8)) else { return nil }
        kind = fields.fault.flatMap(Kind.init(rawValue:))
        row = fields.row ?? [:]
        let given: [String: String?] = fields.values ?? [:]
        values = given.compactMapValues { $0 }
    }
}

package import PolicyStore
package import UpdatePolicy

extension Report {
    /// The lockouts in force, each with the command that turns it off; without their statuses, those that are enabled.
    ///
    /// - Parameter canEdit: Whether the database can be reached, so that the command works.
    package static func inForce(_ lockouts: [EnabledLockout], isBraked: Bool, canEdit: Bool = true) -> [Part] {
        let most = 8
        let shown = lockouts.filter { $0.status == nil || $0.locksOut }
        let notes = shown.prefix(most).map { lockout -> Part in
            let rule = lockout.rule
            let checks = (lockout.share?.checks ?? 0) > 0 ? " checks" : ""
            let share: Sentence =
                isBraked
                ? "\("brake", .part)"
                : "\(lockout.shareText + checks, lockout.isRising(isBraked) ? .alert : .plain)"
            let before = lockout.isRising(isBraked) ? lockout.share?.beforeText.map { " (\($0) before)" } ?? "" : ""
            let since = lockout.share?.change.map { change -> Sentence in ", since \(change.sentence)" } ?? ""
            let verb = lockout.status == nil ? "is enabled and locks out" : isBraked ? "would lock out" : "locks out"
            return .note(
                Note(
                    .lockout,
                    "\(share)\(before) \(rule.key, .rule(rule.key)) \(verb) \(rule.audience) of \(app(rule.bundle))\(since)",
                    remedy: canEdit ? PrintedCommand.text("rule disable \(rule.key.shellWord)") : nil
                )
            )
        }
        guard shown.count > most else { return notes }
        return notes + [.text("\(shown.count - most) more are among \("all rules", .rules).")]
    }

    /// What keeps lockouts and ramps from going on, in a line each.
    ///
    /// - Parameter here: What is said of the brake of the server that shows it; nil: it has none.
    package static func brakes(_ policy: Policy?, _ status: DatabaseStatus?, here: Sentence?, at now: Timestamp)
        -> [Field]
    {
        let elsewhere = status.map { status -> Sentence in
            ServerSession.brake(of: status.servers).map { text -> Sentence in "on: \(text)" } ?? "off"
        }
        let held = policy?.rules.compactMap { rule in
            rule.holdInForce(at: now).map { since -> Sentence in
                "\(rule.key, .rule(rule.key)) since \(distance: since)"
            }
        }
        let clocks = status?.servers.filter { $0.clockOffset != 0 }.map { server -> Sentence in
            "\(server.address) is \(DatabaseClock.difference(seconds: Double(server.clockOffset))) the database"
        }
        let fuses = policy?.rules.filter { $0.enabled && $0.lockout && $0.fuse != nil }.map { rule -> Sentence in
            "\(rule.key, .rule(rule.key)) at \(rule.fuse ?? .all) %"
        }
        return [
            Field("brake", .sentence(here ?? elsewhere)),
            Field("held ramps", .sentence(held.map { names($0, none: "none") })),
            Field("clocks", .sentence(clocks.map { names($0, none: "agree") })),
            Field("fuses", .sentence(fuses.map { names($0, none: "none") })),
            Field(
                "paused apps",
                .sentence(policy.map { names($0.apps.filter(\.paused).map { app($0.bundle) }, none: "none") })),
        ]
    }

    /// The first of some names, and how many more there are.
    static func names(_ names: [Sentence], none: Sentence) -> Sentence {
        let most = 20
        if names.isEmpty { return none }
        let shown = names.prefix(most).joined(separator: ", ")
        return names.count > most ? "\(shown) and \(names.count - most) more" : shown
    }

    /// Apps with their checks, where those are known.
    package static func apps(_ rows: [(app: App, counts: AppRow?)]) -> Table {
        Table(
            ifEmpty: "No app was added yet. To add one: \(command: "app add BUNDLE")", rows,
            columns: [
                Column("App", isName: true) { row in
                    .sentence(
                        "\(row.app.bundle, .app(row.app.bundle)) \(aside: row.app.name)\(tag("paused", if: row.app.paused, .part))"
                    )
                },
                Column("Locked out") { .figure($0.counts?.last.lockoutShare) },
                Column("As a bar") { .bar($0.counts?.last.lockoutPart ?? 0) },
                Column("The day before") { .figure($0.counts?.before.lockoutShare) },
                Column("With a message") { .figure($0.counts?.last.messageShare) },
                Column("Checks") { .count($0.counts?.last.checks) },
            ]
        )
    }
}

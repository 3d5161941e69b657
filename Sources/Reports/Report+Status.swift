package import PolicyStore
package import UpdatePolicy

extension Report {
    /// What goes on in a database, for `versiongate status`. The overview of the pages tells the same by the same parts.
    ///
    /// - Parameters:
    ///   - policy: nil where it may not be read.
    ///   - clock: That of the database beside that of this machine.
    ///   - database: Its name in messages.
    package static func status(
        _ status: DatabaseStatus,
        policy: Policy?,
        statuses: [String: RuleStatus],
        faults: [SchemaFault],
        clock: DatabaseClock,
        database: String
    ) -> Report {
        let lockouts = policy.map { EnabledLockout.all(in: $0, status.shares, statuses, at: status.time) }
        let schemaFaults = faults.filter { $0.isDangerous || $0.stopsServers }.map { "\($0.fault). \($0.remedy)" }
        let faults =
            (status.countsFault.map { ["the counts cannot be read: \($0)"] } ?? []) + schemaFaults
        let fields = head(status, clock, database) + brakes(policy, status, here: nil, at: status.time)
        let parts: [[Part]] = [
            [.fields(fields + [Field(nil, json: "faults", .data(faults))])], clockFaults(clock, status.servers),
            faults.map { .note(Note(.warning, Sentence($0))) }, [.table(table(lockouts, status))],
            self.fuses(status.fuses), [.table(events(policy, at: status.time)), .fields(tail(policy, status))],
            [.table(servers(status))], unknownApps(status), hidden(status),
        ]
        return Report(at: status.time, parts.flatMap(\.self))
    }

    private static func tail(_ policy: Policy?, _ status: DatabaseStatus) -> [Field] {
        let change = status.lastChange.map { change -> JSONValue in
            [
                "id": change.id, "at": change.at, "role": change.role, "os_user": change.osUser, "tool": change.tool,
                "why": change.why, "summary": ChangeFormatter.summary(change).plain,
            ]
        }
        let unknown = status.unknown
        return Field.members([
            "paused_apps": policy?.apps.filter(\.paused).map(\.bundle), "last_change": change,
            "counts_since": status.countsSince,
            "unknown_checks": unknown.map { ["at_least": $0.lowerBound, "at_most": $0.upperBound] as JSONValue },
            "hidden": status.hidden.map(\.rawValue),
        ])
    }

    private static func head(_ status: DatabaseStatus, _ clock: DatabaseClock, _ database: String) -> [Field] {
        let lastChange = status.lastChange.map { change -> Sentence in
            "\("\(change.id)", .change(change.id)) by \(change.author), \(distance: change.at): \(ChangeFormatter.summary(change))\(aside: change.why.map { " (\($0))" })"
        }
        let servers = status.servers.map { server -> JSONValue in
            [
                "address": server.address, "revision": server.revision, "process": server.processID,
                "clock_offset": server.clockOffset, "faults": server.faults.map(\.rawValue),
            ]
        }
        let gone = status.goneServers.map { server -> JSONValue in
            ["name": server.name, "address": server.address, "revision": server.revision, "seen_at": server.seenAt]
        }
        let edits = status.openEdits.map { edit -> JSONValue in
            [
                "process": edit.processID, "prepared": edit.prepared, "role": edit.role,
                "application": edit.application,
            ]
        }
        let name = "\(database), as \(status.role)\(status.isStandby ? "; a standby, which cannot be edited" : "")"
        var fields = [Field("database", .text(name))]
        fields += Field.members(["database": database, "role": status.role])
        fields.append(Field("time", json: "time", .sentence("\(time: status.time)", json: status.time)))
        fields += Field.members(["clock_offset": JSONValue.number("\(clock.offset)"), "standby": status.isStandby])
        fields += [
            Field("revision", json: "revision", .sentence(status.revision.map { "\($0)" }, json: status.revision)),
            Field("last change", .sentence(lastChange ?? (status.hidden.contains(.history) ? nil : "none"))),
        ]
        fields += Field.members(["brake": status.brake, "servers": servers, "gone_servers": gone])
        let openEdits = status.openEdits.map { edit -> Sentence in
            "\(edit.words)\(edit.waitsForStandby ? "" : " has edited and not committed")"
        }
        fields.append(Field("open edits", .lines(openEdits)))
        return fields + Field.members(["open_edits": edits])
    }

    /// The clocks that differ from that of the database: that of this machine, and those of servers.
    package static func clockFaults(_ clock: DatabaseClock?, _ servers: [ServerSession]) -> [Part] {
        var faults: [Sentence] = []
        if let clock, clock.isOff {
            faults.append(
                "the clock of this machine is \(DatabaseClock.difference(seconds: -clock.offset)) that of the database, where it is \(time: clock.now); times count by the database"
            )
        }
        return (faults + servers.compactMap(\.clockSentence).map { Sentence($0) }).map { .note(Note(.warning, $0)) }
    }

    /// The enabled lockouts; nil: not known.
    package static func table(_ lockouts: [EnabledLockout]?, _ status: DatabaseStatus) -> Table {
        let now = status.time
        return Table(
            "Enabled lockouts",
            caption: status.isBraked
                ? "Nobody is locked out while the brake is on."
                : "Locked out is the share of the checks of the last 10 minutes, counted from the last change that affects the rule.",
            json: "lockouts", ifEmpty: "No lockout is enabled.", lockouts,
            columns: [
                Column("Locked out") { lockout in
                    .figure(status.isBraked ? "brake" : lockout.shareText, isHigh: lockout.isRising(status.isBraked))
                },
                Column("Rule", json: "key", isName: true) { .link($0.rule.key, .rule($0.rule.key)) },
                Column("App", json: "bundle", silent: "every app") {
                    .sentence(app($0.rule.bundle), json: $0.rule.bundle)
                },
                Column("Status", json: "status") { lockout in
                    .sentence(
                        PresentRule(lockout.rule, lockout.status, sendsLockouts: !status.isBraked).tag,
                        json: lockout.status?.name.rawValue
                    )
                },
                Column("Why", json: "reason") { .sentence($0.status?.reason, json: $0.status?.reason?.plain) },
                .data("since") { $0.status?.since }, .data("next") { $0.status?.next },
                Column("Who", json: "who") { .text($0.rule.audience) },
                Column("Rollout", json: "rollout", silent: "100 %") { .percentage($0.rule.rollout(at: now)) },
                Column("Ends", json: "ends_at") {
                    .sentence($0.rule.endsAt.map { end -> Sentence in "\(distance: end)" }, json: $0.rule.endsAt)
                },
                .data("locked_out") { $0.share?.lockouts }, .data("checks") { $0.share?.checks },
                .data("has_risen") { $0.share?.hasRisen },
                Column("Since", json: "change") {
                    .sentence($0.share?.change.map { $0.sentence }, json: $0.share?.change?.id)
                },
                .data("changed_at") { $0.share?.change?.at }, .data("changed_by") { $0.share?.change?.role },
            ]
        )
    }

    /// An app as a subject; nil: every app.
    package static func app(_ bundle: String?) -> Sentence {
        bundle.map { bundle -> Sentence in "\(bundle, .app(bundle))" } ?? "every app"
    }

    /// The fuses, and those that have blown; nil: not known.
    package static func fuses(_ fuses: [FuseStatus]?) -> [Part] {
        let table = Table(
            "Fuses", caption: "What their rules locked out in the last 10 minutes.", json: "fuses", ifEmpty: "", fuses,
            columns: [
                Column("Rule", json: "rule", isName: true) { .link($0.rule, .rule($0.rule)) },
                .data("bundle") { $0.bundle },
                Column("Fuse", json: "fuse") { .percentage($0.fuse) },
                Column("Status", json: "status") {
                    .tag($0.state.rawValue, $0.state == .blown ? .alert : $0.state == .idle ? .off : .good)
                },
                Column("Locked out") { fuse in
                    .text(
                        fuse.load.map {
                            "\(NumberText.share($0.lockouts, ofChecks: $0.checks)) of \($0.bundle ?? "apps that were not added")"
                        }
                    )
                },
                .data("app") { $0.load?.bundle }, .data("checks") { $0.load?.checks },
                .data("locked_out") { $0.load?.lockouts }, .data("change") { $0.blow?.change },
                .data("blown_at") { $0.blow?.at }, .data("why") { $0.blow?.why },
            ]
        )
        return [.table(table)] + (fuses ?? []).compactMap(blown)
    }

    package static func blown(_ fuse: FuseStatus) -> Part? {
        guard fuse.state == .blown else { return nil }
        let cure = fuse.blow.map { blow -> Sentence in " To arm it again: \(command: "undo \(blow.change)")" } ?? ""
        return .note(Note(.hint, "The fuse of \(fuse.rule, .rule(fuse.rule)) \(fuse.blowing)\(cure)"))
    }

    /// What begins or ends by itself; nil where the policy is not known.
    package static func events(_ policy: Policy?, at now: Timestamp) -> Table {
        Table(
            "In the next 24 hours", json: "upcoming", ifEmpty: "Nothing begins or ends in the next 24 hours.",
            policy?.eventsOfNextDay(at: now),
            columns: [
                Column("When", json: "at", isName: true) { .time($0.at) },
                Column("What") { .text($0.sentence) }, .data("kind") { $0.kind.rawValue },
                .data("name") { $0.name }, .data("rollout") { $0.rollout },
            ]
        )
    }

    package static func servers(_ status: DatabaseStatus) -> Table {
        let gone = status.goneServers.map { server -> (String, Int64, Sentence) in
            (
                server.name, server.revision,
                "gone\(server.address.map { " from \($0)" } ?? ""), last seen \(distance: server.seenAt)"
            )
        }
        let present = status.servers.map { server -> (String, Int64, Sentence) in
            let behind = status.revision.map { max(0, $0 - server.revision) } ?? 0
            let remarks =
                (behind > 0 ? ["\(behind) behind"] : []) + (server.clockSentence == nil ? [] : ["its clock is off"])
                + server.faults.map { "\($0.sentence), see its /ready" }
            return (server.address, server.revision, Sentence(remarks.joined(separator: "; ")))
        }
        return Table(
            "Servers",
            ifEmpty:
                "No server is connected to this database. Those on a standby or behind a pooler are not listed.",
            gone + present,
            columns: [
                Column("Server", isName: true) { .text($0.0) },
                Column("Revision") { .figure("\($0.1)") }, Column("Remark") { .sentence($0.2) },
            ]
        )
    }

    package static func unknownApps(_ status: DatabaseStatus) -> [Part] {
        guard let checks = status.unknownChecks else { return [] }
        return [
            .text(
                "Unknown apps: \(checks) since \(time: status.countsSince) named an app that was not added. \("The page /unknowns", .unknowns) of each server lists those that it has seen since it started. Look for a misspelled bundle, or add the app: \(command: "app add BUNDLE")"
            )
        ]
    }

    private static func hidden(_ status: DatabaseStatus) -> [Part] {
        guard !status.hidden.isEmpty else { return [] }
        let names = status.hidden.map { "the \($0.rawValue)" }
        let list = [names.dropLast().joined(separator: ", "), names.suffix(1).joined()].filter { !$0.isEmpty }
            .joined(separator: " or ")
        return [.text("\(status.role) may not read \(list); log in as a viewer or an admin to see it.")]
    }
}

extension EnabledLockout {
    /// Whether more are locked out than before the change that made the rule what it is.
    package func isRising(_ isBraked: Bool) -> Bool { !isBraked && locksOut && share?.hasRisen ?? false }
}

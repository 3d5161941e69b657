import PolicyStore
import UpdatePolicy

/// Shows the status of a database.
struct StatusReport {
    let status: DatabaseStatus
    /// The enabled lockouts, the largest share first; nil where the policy may not be read.
    let lockouts: [EnabledLockout]?
    /// What begins and ends in the next 24 hours, in order of time; nil as ``lockouts``.
    let events: [PolicyEvent]?
    /// The bundles of the paused apps; nil as ``lockouts``.
    let pausedApps: [String]?
    /// The bundles of the apps of which no feed announces anything, since their rules and releases are too many.
    let largeApps: [String]
    /// The faults of rights in the database that are dangerous or in the way of servers.
    let faults: [SchemaFault]
    /// Its clock beside that of this machine.
    let clock: DatabaseClock
    /// The name of the database in messages.
    let database: String

    // MARK: For people

    /// For people, without a line break at its end.
    var text: String {
        var parts = [RecordText(fields).text]
        if let brake = status.brake { parts.append(terminal.paragraphs("Brake: \(brake).".visible())) }
        for fault in CommandClock.faults(clock, status.servers) { parts.append("Warning: \(fault)") }
        parts += faultSentences.map { terminal.paragraphs("Warning: \($0)".visible()) }
        if let lockouts { parts.append(text(lockouts)) }
        if let fuses = status.fuses, !fuses.isEmpty { parts.append(text(fuses)) }
        if let events { parts.append(text(events)) }
        if let pausedApps {
            parts.append(
                pausedApps.isEmpty
                    ? "No app is paused."
                    : terminal.paragraphs("Paused apps: \(pausedApps.joined(separator: ", "))".visible())
            )
        }
        if let unknown = status.counts?.unknown, unknown.upperBound > 0 { parts.append(text(unknown)) }
        if !status.hidden.isEmpty {
            let names = status.hidden.map(\.rawValue).joined(separator: " and the ")
            parts.append(
                terminal.paragraphs(
                    "\(status.role) may not read the \(names); log in as a viewer or an admin to see it.".visible()
                )
            )
        }
        return parts.joined(separator: "\n\n")
    }

    private var terminal: Terminal { .standardOutput }

    /// What is wrong, a text each.
    private var faultSentences: [String] {
        let counts = status.countsFault.map { ["the counts cannot be read: \($0)"] } ?? []
        return counts + faults.map { "\($0.fault). \($0.remedy)" } + (largeApps.isEmpty ? [] : [largeAppsSentence])
    }

    private var largeAppsSentence: String {
        let more = largeApps.count - Self.mostNames
        let names = largeApps.prefix(Self.mostNames).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return "the rules and releases of an app count more than \(CompiledPolicy.largestAnnouncement) together, so no"
            + " feed of it announces anything: \(names). Disable rules that are not needed any more, or remove old releases."
            + " Each interval of versions counts as a rule."
    }

    private static let mostNames = 20

    private var fields: [RecordField] {
        let behind = status.servers.map { server in
            status.revision.map { max(0, $0 - server.revision) } ?? 0
        }
        let servers = zip(status.servers, behind).map { server, behind in
            "\(server.address) at revision \(server.revision)\(behind > 0 ? ", \(behind) behind" : "")"
                + " (process \(server.processID) of the database)"
                + server.faults.map { "; \($0.sentence), see its /ready" }.joined()
        }
        return [
            RecordField(
                name: "database",
                value: "\(database), as \(status.role)\(status.isStandby ? "; a standby, which cannot be edited" : "")"
            ),
            RecordField(name: "time", value: TimeText.local(status.time)),
            RecordField(name: "revision", value: status.revision.map(String.init)),
            RecordField(
                name: "last change",
                value: status.lastChange.map { ChangeLine.text($0, on: .file) }
                    ?? (status.hidden.contains(.history) ? nil : "none")
            ),
            RecordField(
                name: "open edits",
                value: status.openEdits.isEmpty
                    ? nil : status.openEdits.map { "\($0.words) has edited and not committed" }.joined(separator: "\n")
            ),
            RecordField(
                name: "servers",
                value: servers.isEmpty
                    ? "none is connected to this database (those on a standby or behind a pooler are not listed)"
                    : servers.joined(separator: "\n")
            ),
            RecordField(
                name: "gone servers",
                value: status.goneServers.isEmpty
                    ? nil : status.goneServers.map { gone($0) }.joined(separator: "\n")
            ),
        ]
    }

    private func gone(_ server: ServerSighting) -> String {
        "\(server.name)\(server.address.map { ", at \($0)," } ?? "") had revision \(server.revision), heard of last"
            + " \(server.seenAt.distance(from: status.time) ?? TimeText.local(server.seenAt))"
    }

    private func text(_ lockouts: [EnabledLockout]) -> String {
        if lockouts.isEmpty { return "No lockout is enabled." }
        var table = TextTable(
            "LOCKED OUT", "RULE", "STATUS", "ROLLOUT", "ENDS", "SINCE", "WHO", named: 2,
            silent: ["ROLLOUT": "100 %", "ENDS": "-"]
        )
        for lockout in lockouts {
            table.add(
                status.isBraked ? "brake" : lockout.shareText, lockout.rule.key,
                status.isBraked && lockout.locksOut ? "brake" : lockout.status?.name.rawValue ?? "not known",
                "\(lockout.rule.rollout(at: status.time)) %", lockout.rule.endsAt?.distance(from: status.time) ?? "-",
                lockout.share?.change.map { $0.name(at: status.time) } ?? "-",
                lockout.rule.who + (lockout.status?.reason.map { " (\(ChangeWords.local.sentence($0)))" } ?? "")
            )
        }
        let heading =
            status.isBraked
            ? "Enabled lockouts, by which nobody is locked out while the brake is on:"
            : "Enabled lockouts, and the checks of the last 10 minutes that they locked out since they are what they are:"
        return "\(terminal.paragraphs(heading))\n\(table.text)"
    }

    private func text(_ fuses: [FuseStatus]) -> String {
        var table = TextTable("RULE", "FUSE", "STATUS", "LOCKED OUT", named: 1)
        for fuse in fuses {
            let load = fuse.load.map { load in
                "\(NumberText.share(load.lockouts, ofChecks: load.checks)) of \(load.bundle ?? "apps that were not added")"
            }
            table.add(fuse.rule, "\(fuse.fuse) %", fuse.state.rawValue, load ?? "-")
        }
        let blown = fuses.compactMap { fuse in
            fuse.blow.map { blow in
                terminal.paragraphs(
                    "Blown at \(TimeText.local(blow.at, from: status.time)): \((blow.why ?? fuse.rule).visible())."
                        + " To arm it again: \(PrintedCommand("undo \(blow.change)"))"
                )
            }
        }
        let heading = "Fuses, and what their rules locked out in the last 10 minutes:"
        return ([terminal.paragraphs(heading), table.text] + blown).joined(separator: "\n")
    }

    private func text(_ events: [PolicyEvent]) -> String {
        if events.isEmpty { return "Nothing begins or ends in the next 24 hours." }
        let lines = events.map { event in
            terminal.paragraphs(
                "  \(TimeText.local(event.at, from: status.time)): \(event.sentence.visible())",
                indentation: "    "
            )
        }
        return "In the next 24 hours:\n" + lines.joined(separator: "\n")
    }

    private func text(_ unknown: ClosedRange<Int64>) -> String {
        let checks =
            (unknown.lowerBound == unknown.upperBound ? "" : "\(NumberText.count(unknown.lowerBound)) to ")
            + NumberText.checks(unknown.upperBound)
        return terminal.paragraphs(
            "Unknown apps: \(checks) since \(TimeText.local(status.countsSince)) named an app that was not added."
                + " The page /unknowns of each server lists them since its start. Look for a misspelled bundle, or add the app: \(PrintedCommand("app add BUNDLE"))"
        )
    }

    // MARK: For programs

    /// For programs.
    var json: JSONValue {
        [
            "database": database, "role": status.role, "time": status.time,
            "clock_offset": JSONValue.number("\(clock.offset)"), "standby": status.isStandby,
            "revision": status.revision, "brake": status.brake, "servers": status.servers.map(Self.server),
            "gone_servers": status.goneServers.map(Self.goneServer), "open_edits": status.openEdits.map(Self.openEdit),
            "faults": faultSentences, "lockouts": lockouts?.map { Self.lockout($0, at: status.time) },
            "fuses": status.fuses?.map(Self.fuse), "upcoming": events?.map(Self.event), "paused_apps": pausedApps,
            "last_change": status.lastChange.map(Self.change), "counts_since": status.countsSince,
            "unknown_checks": status.counts.map(Self.unknownChecks), "hidden": status.hidden.map(\.rawValue),
        ]
    }

    private static func server(_ server: ServerSession) -> JSONValue {
        [
            "address": server.address, "revision": server.revision, "process": server.processID,
            "clock_offset": server.clockOffset, "faults": server.faults.map(\.rawValue),
        ]
    }

    private static func goneServer(_ server: ServerSighting) -> JSONValue {
        ["name": server.name, "address": server.address, "revision": server.revision, "seen_at": server.seenAt]
    }

    private static func openEdit(_ edit: OpenEdit) -> JSONValue {
        ["process": edit.processID, "prepared": edit.prepared, "role": edit.role, "application": edit.application]
    }

    private static func unknownChecks(_ counts: DatabaseStatus.Counts) -> JSONValue {
        ["at_least": counts.unknown.lowerBound, "at_most": counts.unknown.upperBound]
    }

    private static func lockout(_ lockout: EnabledLockout, at now: Timestamp) -> JSONValue {
        let (rule, status) = (lockout.rule, lockout.status)
        return [
            "key": rule.key, "bundle": rule.bundle, "status": status?.name.rawValue, "reason": status?.reason,
            "since": status?.since, "next": status?.next, "who": rule.audience, "rollout": rule.rollout(at: now),
            "ends_at": rule.endsAt, "locked_out": lockout.share?.lockouts, "checks": lockout.share?.checks,
            "has_risen": lockout.share?.hasRisen, "change": lockout.share?.change?.id,
            "changed_at": lockout.share?.change?.at, "changed_by": lockout.share?.change?.role,
        ]
    }

    private static func fuse(_ fuse: FuseStatus) -> JSONValue {
        [
            "rule": fuse.rule, "bundle": fuse.bundle, "fuse": fuse.fuse, "status": fuse.state.rawValue,
            "app": fuse.load?.bundle, "checks": fuse.load?.checks, "locked_out": fuse.load?.lockouts,
            "change": fuse.blow?.change, "blown_at": fuse.blow?.at, "why": fuse.blow?.why,
        ]
    }

    private static func event(_ event: PolicyEvent) -> JSONValue {
        [
            "at": event.at, "kind": event.kind.rawValue, "name": event.name,
            "rollout": event.rollout,
        ]
    }

    private static func change(_ change: PolicyChange) -> JSONValue {
        [
            "id": change.id, "at": change.at, "role": change.role, "os_user": change.osUser, "tool": change.tool,
            "why": change.why, "summary": ChangeWords.local.summary(change),
        ]
    }
}

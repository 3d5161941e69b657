// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import UpdatePolicy

/// Shows the status of a database.
struct StatusReport {
    let status: DatabaseStatus
    /// Its clock beside that of this machine.
    let clock: DatabaseClock
    /// The name of the database in messages.
    let database: String

    // MARK: For people

    /// For people, without a line break at its end.
    var text: String {
        var parts = [RecordText(fields).text]
        for fault in CommandClock.faults(clock, status.servers) { parts.append("Warning: \(fault)") }
        if let lockouts = status.lockouts { parts.append(text(lockouts)) }
        if let events = status.events { parts.append(text(events)) }
        if let apps = status.pausedApps {
            parts.append(
                apps.isEmpty
                    ? "No app is paused."
                    : terminal.paragraphs("Paused apps: \(apps.joined(separator: ", "))".visible())
            )
        }
        if let unknown = status.unknownChecks, unknown.upperBound > 0 { parts.append(text(unknown)) }
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

    private var fields: [RecordField] {
        let behind = status.servers.map { server in
            status.revision.map { max(0, $0 - server.revision) } ?? 0
        }
        let servers = zip(status.servers, behind).map { server, behind in
            "\(server.host) at revision \(server.revision)\(behind > 0 ? ", \(behind) behind" : "")"
                + " (process \(server.processID) of the database)"
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
                value: status.lastChange.map { ChangeLine.text($0) }
                    ?? (status.hidden.contains(.history) ? nil : "none")
            ),
            RecordField(
                name: "servers",
                value: servers.isEmpty
                    ? "none is connected to this database (those on a standby or behind a pooler are not listed)"
                    : servers.joined(separator: "\n")
            ),
        ]
    }

    private func text(_ lockouts: [DatabaseStatus.Lockout]) -> String {
        if lockouts.isEmpty { return "No lockout is enabled." }
        var table = TextTable(
            "KEY",
            "APP",
            "STATE",
            "VERSIONS",
            "PLATFORMS",
            "ROLLOUT",
            "ENDS",
            "LOCKED OUT",
            silent: ["VERSIONS": "all", "PLATFORMS": "all", "ROLLOUT": "100 %"]
        )
        for lockout in lockouts {
            table.add(
                lockout.key,
                lockout.bundle ?? "every app",
                lockout.waitsFor.map { "waits for \(ChangeWords.local.sentence($0))" } ?? "on",
                lockout.versions ?? "all",
                lockout.platforms ?? "all",
                "\(lockout.rollout) %",
                lockout.endsAt.map { TimeText.local($0, from: status.time) } ?? "-",
                lockout.counts.map(Self.share) ?? "not known"
            )
        }
        let heading =
            "Enabled lockouts, and the checks that they locked out since \(TimeText.local(status.countsSince)):"
        return "\(terminal.paragraphs(heading))\n\(table.text)"
    }

    private static func share(_ counts: (lockedOut: Int64, checks: Int64)) -> String {
        guard counts.checks > 0 else { return "no checks" }
        let share = NumberText.share(Double(counts.lockedOut), of: Double(counts.checks))
        return Double(counts.checks) < NumberText.fewestJudged
            ? share : "\(share) of \(NumberText.count(counts.checks))"
    }

    private func text(_ events: [DatabaseStatus.Event]) -> String {
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
                + " Which ones is not kept. Look for a misspelled bundle, or add the app: versiongate app add BUNDLE"
        )
    }

    // MARK: For programs

    /// For programs.
    var json: String {
        JSONText.object([
            "database": JSONText.string(database), "role": JSONText.string(status.role),
            "time": JSONText.string(status.time.description), "clock_offset": "\(clock.offset)",
            "standby": "\(status.isStandby)",
            "revision": status.revision.map(String.init) ?? "null",
            "servers": JSONText.array(
                status.servers.map { server in
                    JSONText.object([
                        "host": JSONText.string(server.host), "revision": "\(server.revision)",
                        "process": "\(server.processID)", "clock_offset": "\(server.clockOffset)",
                    ])
                }
            ),
            "lockouts": status.lockouts.map { JSONText.array($0.map(Self.json)) } ?? "null",
            "upcoming": status.events.map { JSONText.array($0.map(Self.json)) } ?? "null",
            "paused_apps": status.pausedApps.map { JSONText.array($0.map(JSONText.string)) } ?? "null",
            "last_change": status.lastChange.map(Self.json) ?? "null",
            "counts_since": JSONText.string(status.countsSince.description),
            "unknown_checks": status.unknownChecks.map {
                JSONText.object(["at_least": "\($0.lowerBound)", "at_most": "\($0.upperBound)"])
            } ?? "null",
            "hidden": JSONText.array(status.hidden.map { JSONText.string($0.rawValue) }),
        ])
    }

    private static func json(_ lockout: DatabaseStatus.Lockout) -> String {
        JSONText.object([
            "key": JSONText.string(lockout.key), "bundle": JSONText.optional(lockout.bundle),
            "waits_for": JSONText.optional(lockout.waitsFor), "versions": JSONText.optional(lockout.versions),
            "platforms": JSONText.optional(lockout.platforms), "rollout": lockout.rollout,
            "ends_at": JSONText.optional(lockout.endsAt?.description),
            "locked_out": lockout.counts.map { "\($0.lockedOut)" } ?? "null",
            "checks": lockout.counts.map { "\($0.checks)" } ?? "null",
        ])
    }

    private static func json(_ event: DatabaseStatus.Event) -> String {
        JSONText.object([
            "at": JSONText.string(event.at.description), "kind": JSONText.string(event.kind.rawValue),
            "name": JSONText.string(event.name), "rollout": event.rollout ?? "null",
        ])
    }

    private static func json(_ change: PolicyChange) -> String {
        JSONText.object([
            "id": "\(change.id)", "at": JSONText.string(change.at.description), "role": JSONText.string(change.role),
            "os_user": JSONText.optional(change.osUser), "tool": JSONText.optional(change.tool),
            "why": JSONText.optional(change.why), "summary": JSONText.string(ChangeWords.local.summary(change)),
        ])
    }
}

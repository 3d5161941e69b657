import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct StatusCommand: AsyncParsableCommand {
    static let configuration = command(
        "status", "Show servers, lockouts, what begins or ends soon, and the last change.",
        "versiongate status", "versiongate status --format json",
        discussion: """
            Each enabled lockout is listed with its status, as in the view rule_status, those that lock out the \
            largest share of checks first. Shares are those of the checks of the rule's app (of a rule for every app: \
            of all checks) in the last 10 minutes, counted from the last change that affects the rule. Servers write \
            counts every 10 seconds, and none under the brake; the counts are claims of clients.

            Servers name their revision in their session of the database. Those on a standby are listed on that \
            standby, and those behind a pooler are not listed. Every half minute each server also notes that it is \
            up; those that did so in the last hour and are gone are listed as such.

            It needs no more rights than those of versiongate_server, and says what the role may not read.

            With --format json: an object with database, role, time, clock_offset (seconds by which the clock of the \
            database is ahead of that of this machine), standby, revision, brake (which servers send lockouts as plain \
            messages), servers (address, revision, process, clock_offset: seconds by which its clock is ahead of that \
            of the database, faults: certificate, disk, brake, key, revision or counts), gone_servers (name, address, \
            revision, seen_at), open_edits (process, prepared, role, application: sessions and prepared transactions \
            that have edited and not committed), faults (what is wrong in the database, or too much for a feed), \
            lockouts (key, bundle, status, reason, since, next, who, rollout, ends_at, locked_out, checks, has_risen, \
            change, changed_at, changed_by), fuses (rule, bundle, fuse, status: armed, blown or idle, app, checks, \
            locked_out, change, blown_at, why), upcoming (at, kind, name, rollout), paused_apps, last_change (id, at, \
            role, os_user, tool, why, summary), counts_since, unknown_checks (at_least, at_most: checks of apps that \
            were not added) and hidden (policy, counts, history: what may not be read, and is null).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let report = try await database.withConnection(as: .admin) { connection, logger, name in
            try await connection.transaction(.repeatableReadReadOnly) { session in
                if try DatabaseStatus.isSchemaVisible(session) {
                    try SchemaMigrator(logger: logger).status(session).requireReadable()
                }
                let status = try DatabaseStatus(session)
                let policy = status.hidden.contains(.policy) ? nil : try PolicyReader.policy(session)
                let lockouts = policy.map { EnabledLockout.rules(of: $0, at: status.time) } ?? []
                return Report.status(
                    status, policy: policy,
                    statuses: lockouts.isEmpty ? [:] : try RuleStatus.all(session, keys: lockouts.map(\.key)),
                    faults: try SchemaFault.all(session), clock: try DatabaseClock(session) { .now() }, database: name
                )
            }
        }
        output.print(report)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate status`
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what goes on: database, servers, lockouts, what begins or ends soon, the last change.",
        discussion: """
            Servers name their revision in their session of the database. Those on a standby are listed on that \
            standby, and those behind a pooler are not listed. Shares are those of the last full hour and the present \
            one, from the checks that servers have counted; the counts are claims of clients.

            It needs no more rights than those of versiongate_server, and says what the role may not read.

            With --format json: an object with database, role, time, clock_offset (seconds by which the clock of the \
            database is ahead of that of this machine), standby, revision, servers (host, revision, process, \
            clock_offset: seconds by which its clock is ahead of that of the database), lockouts (key, bundle, waits_for, versions, platforms, rollout, ends_at, locked_out, checks), \
            upcoming (at, kind, name, rollout), paused_apps, last_change (id, at, role, os_user, tool, why, summary), \
            counts_since, unknown_checks (at_least, at_most: checks of apps that were not added) and hidden (policy, \
            counts, history: what may not be read, and is null).

            Examples:
              versiongate status
              versiongate status --format json
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let (status, clock, name) = try await database.withConnection(as: .admin) { connection, logger in
            let (status, clock) = try await connection.transaction(.repeatableReadReadOnly) { session in
                if try DatabaseStatus.isSchemaVisible(session) {
                    try SchemaMigrator(logger: logger).status(session).requireReadable()
                }
                return (try DatabaseStatus(session), try DatabaseClock(session) { .now() })
            }
            return (status, clock, try await database.databaseName(connection))
        }
        let report = StatusReport(status: status, clock: clock, database: name)
        switch output.format {
        case .json: print(report.json)
        case .table: print(report.text)
        }
    }
}

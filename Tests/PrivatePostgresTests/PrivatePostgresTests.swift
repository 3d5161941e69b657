import Foundation
import Glibc
import Logging
import Postgres
import Subprocess
import Synchronization
import TestRandom
import TestSystem
import Testing

@testable import PrivatePostgres

@Suite("Private PostgreSQL")
struct PrivatePostgresTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func connect(
        _ lease: PrivatePostgresLease,
        user: String = PrivatePostgres.superuser
    ) async throws -> PostgresConnection {
        try await PostgresConnection.connect(lease.configuration(user: user), logger: logger)
    }

    /// Returns when no process of the server in the folder is left.
    private func untilStopped(_ folder: TemporaryFolder) async throws {
        let owner = try ClusterFolder(stateDirectory: folder.state).owner
        let server = try FileLock(folder.state + "/postgres/server.lock", owner: owner)
        try await server.lock(.exclusive, within: Patience.limit, purpose: "the server to stop")
    }

    private func log(_ folder: TemporaryFolder) -> String {
        ServerFile.text(folder.state + "/postgres/server.log")
    }

    @Test("The first start initialises, as an unprivileged user, the second finds the data, and leaving stops cleanly")
    func startsTwice() async throws {
        try await TemporaryFolder.with { folder in
            let first = try await folder.postgres().start()
            let connection = try await connect(first)
            #expect(try await connection.query("SELECT current_database()::text").value() == "versiongate")
            try await connection.execute("CREATE TABLE t AS SELECT 'kept' AS word")
            #expect(try await connection.query("SHOW server_encoding").value() == "UTF8")
            #expect(try await connection.query("SHOW data_checksums").value() == "on")
            #expect(try await connection.query("SHOW listen_addresses").value() == "")
            #expect(try await connection.query("SHOW unix_socket_permissions").value() == "0700")
            await connection.close()
            // In a folder that others cannot enter.
            let status = try FileStatus(folder.state + "/postgres")
            #expect(status.permissions == 0o700)
            #expect(try FileStatus("/proc/\(#require(first.serverProcessID))").owner == status.owner)
            #expect(try FileStatus(folder.state).owner == geteuid())
            if geteuid() == 0 { #expect(status.owner != 0) } else { #expect(status.owner == geteuid()) }
            try await first.releaseAndWait()
            #expect(first.serverProcessID == nil)
            #expect(log(folder).contains("database system is shut down"))

            let second = try await folder.postgres().start()
            #expect(try await connect(second).query("SELECT word FROM t").value() == "kept")
            #expect(!log(folder).contains("was not properly shut down"))
            try await second.releaseAndWait()
        }
    }

    @Test("Starts that race initialise once and share one server")
    func startsOnceInARace() async throws {
        try await TemporaryFolder.with { folder in
            let leases = try await withThrowingTaskGroup(of: PrivatePostgresLease.self) { group in
                for _ in 0..<6 { group.addTask { try await folder.postgres().start() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(leases.map(\.serverProcessID)).count == 1)
            for lease in leases.dropLast() { try await lease.releaseAndWait() }
            #expect(try await connect(leases[5]).query("SELECT 1").value() == 1)
            try await leases[5].releaseAndWait()
            #expect(leases[5].serverProcessID == nil)
            #expect(log(folder).ranges(of: "starting PostgreSQL").count == 1)
        }
    }

    @Test("Starting while the server stops waits for it and starts it anew", .whole)
    func startsWhileItStops() async throws {
        try await TemporaryFolder.initialised { folder in
            var previous = try await folder.postgres().start()
            for _ in 0..<5 {
                let process = previous.serverProcessID
                previous.release()
                let next = try await folder.postgres().start()
                #expect(try await connect(next).query("SELECT 1").value() == 1)
                #expect(process != nil)
                previous = next
            }
            try await previous.releaseAndWait()
        }
    }

    @Test("A holder killed with SIGKILL lets the server stop")
    func stopsAfterAKilledHolder() async throws {
        try await TemporaryFolder.initialised { folder in
            let lease = try await folder.postgres().start()
            let holder = try await run(
                .name("flock"),
                arguments: [
                    "--shared", "--no-fork", folder.state + "/postgres/leases.lock", "sh", "-c", "echo; exec cat",
                ],
                input: .inputWriter,
                output: .sequence,
                error: .discarded
            ) { execution in
                for try await _ in execution.standardOutput { break }
                try await lease.releaseAndWait()
                #expect(lease.serverProcessID != nil)
                try execution.send(signal: .kill)
            }
            #expect(holder.terminationStatus == .signaled(SIGKILL))
            try await untilStopped(folder)
            #expect(log(folder).contains("database system is shut down"))
        }
    }

    @Test("A server killed with SIGKILL is brought back with what was committed")
    func bringsAKilledServerBack() async throws {
        try await TemporaryFolder.initialised { folder in
            let lease = try await folder.postgres().start()
            let connection = try await connect(lease)
            try await connection.execute("CREATE TABLE t AS SELECT 'kept' AS word")
            let process = try #require(lease.serverProcessID)
            #expect(kill(process, SIGKILL) == 0)
            try await lease.ensureRunning()
            #expect(lease.serverProcessID != process)
            #expect(try await connect(lease).query("SELECT word FROM t").value() == "kept")
            try await lease.ensureRunning()
            try await lease.releaseAndWait()
            #expect(log(folder).contains("database system is shut down"))
        }
    }

    @Test("A keeper killed with SIGKILL leaves a server that still stops with the last lease", .whole)
    func stopsWithoutAKeeper() async throws {
        try await TemporaryFolder.initialised { folder in
            let lease = try await folder.postgres().start()
            let process = try #require(lease.serverProcessID)
            let status = ServerFile.text("/proc/\(process)/status")
            let parent = try #require(
                status.split(separator: "\n").first { $0.hasPrefix("PPid:") }.flatMap { Int32($0.dropFirst(6)) }
            )
            #expect(kill(parent, SIGKILL) == 0)
            #expect(try await connect(lease).query("SELECT 1").value() == 1)
            try await lease.releaseAndWait()
            #expect(log(folder).contains("database system is shut down"))
        }
    }

    @Test(
        "A stale file of another process does not keep the server from starting", .whole,
        arguments: ["", "not a number\n", "this process"]
    )
    func startsBesideAStaleFile(content: String) async throws {
        try await TemporaryFolder.initialised { folder in
            let first = try await folder.postgres().start()
            let process = try #require(first.serverProcessID)
            let server = folder.state + "/postgres"
            let owner = try FileStatus(server).owner
            #expect(kill(process, SIGKILL) == 0)
            try await untilStopped(folder)

            // A process of the same user, which PostgreSQL by itself takes for another server.
            let asOwner = geteuid() == 0 ? ["setpriv", "--reuid=\(owner)", "--clear-groups", "cat"] : ["cat"]
            _ = try await run(
                .name(asOwner[0]), arguments: Arguments(Array(asOwner.dropFirst())), input: .inputWriter,
                output: .discarded, error: .discarded
            ) { execution in
                let text =
                    content == "this process" ? "\(execution.processIdentifier.value)\n\(server)/data\n" : content
                try folder.write(text, to: "state/postgres/data/postmaster.pid")
                try await first.ensureRunning()
                #expect(try await connect(first).query("SELECT 1").value() == 1)
                try await execution.standardInputWriter.finish()
            }
            try await first.releaseAndWait()
        }
    }

    /// A child between fork and exec must not call what waits for the other threads of its parent, as setuid does.
    @Test("Threads that come and go while the server is started do not matter", .whole)
    func startsAmongThreads() async throws {
        try await TemporaryFolder.initialised { folder in
            let isOver = Atomic(false)
            let churn = Thread {
                while !isOver.load(ordering: .relaxed) { Thread.detachNewThread {} }
            }
            churn.start()
            defer { isOver.store(true, ordering: .relaxed) }
            for _ in 0..<5 { try await folder.postgres().start().releaseAndWait() }
        }
    }

    @Test("The roles of versiongate may log in, also by psql, and no others")
    func admitsRoles() async throws {
        try await TemporaryFolder.initialised { folder in
            let lease = try await folder.postgres().start()
            let connection = try await connect(lease)
            let roles = ["versiongate_admin", "versiongate_server", "other"]
            for role in roles { try await connection.execute("CREATE ROLE \(PostgresIdentifier(role)) LOGIN") }
            for role in roles.dropLast() {
                let result = try await run(
                    .name("psql"), arguments: ["-XAtc", "SELECT session_user", lease.url(user: role)],
                    output: .string(limit: 4096)
                )
                #expect(result.standardOutput == role + "\n")
            }
            let error = await #expect(throws: PostgresError.self) { _ = try await connect(lease, user: "other") }
            #expect(error?.message.contains("Peer authentication failed") == true)
            try await lease.releaseAndWait()
        }
    }

    @Test(
        "Any path of the state folder works", .whole,
        arguments: [String(repeating: "long/", count: 30), "with space, comma; \"quote\" 'and' \\ @ % ü?#&="]
    )
    func takesAnyPath(name: String) async throws {
        try await TemporaryFolder.with { folder in
            let state = folder.path + "/" + name
            let lease = try await PrivatePostgres(
                stateDirectory: state, settings: ["fsync": "off"], logger: logger
            ).start()
            #expect(try await connect(lease).query("SELECT 1").value() == 1)
            #expect(try FileStatus(lease.socketDirectory).permissions == 0o700)
            let result = try await run(
                .name("psql"), arguments: ["-XAtc", "SELECT 1", lease.url()], output: .string(limit: 4096)
            )
            #expect(result.standardOutput == "1\n")
            try await lease.releaseAndWait()
            if !lease.socketDirectory.hasPrefix(folder.path) { #expect(rmdir(lease.socketDirectory) == 0) }
        }
    }
}

import Foundation
import Postgres
import Subprocess
import SystemPackage
import TestDatabase
import TestRandom
import TestSystem
import Testing

/// `history --follow`, as a process of its own, whose output is read line by line.
@Suite("Followed history", .whole, .migratedDatabase)
struct HistoryFollowTests {
    private struct Entry: Decodable {
        let id: Int
    }

    /// What a follower printed, errors among it, and how a signal ended it.
    private struct Ending {
        let lines: [String]
        let status: TerminationStatus

        /// The ids of the changes.
        var ids: [Int] {
            lines.compactMap { try? JSONDecoder().decode(Entry.self, from: Data($0.utf8)).id }
        }
    }

    /// Follows from the beginning, and ends it when `isLast` says so of what it has printed.
    private func follow(
        _ url: String = TestDatabase.current.url(user: "versiongate_viewer"),
        _ options: [String] = [],
        endingWith signal: Int32 = SIGTERM,
        _ isLast: @escaping @Sendable (Ending) async throws -> Bool
    ) async throws -> Ending {
        let binary = BuiltBinary(environment: ["DATABASE_URL": url])
        let words = ["-c", "exec \"$0\" \"$@\" 2>&1", BuiltBinary.path]
        let result = try await Subprocess.run(
            .name("bash"),
            arguments: Arguments(words + ["history", "--follow", "--format", "json", "--after", "0"] + options),
            environment: binary.subprocessEnvironment, input: .none, output: .sequence, error: .discarded
        ) { execution in
            var lines: [String] = []
            let outcome: Result<Void, any Error>
            do {
                for try await line in execution.standardOutput.strings() {
                    lines.append(line)
                    if try await isLast(Ending(lines: lines, status: .exited(0))) { break }
                }
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            kill(execution.processIdentifier.value, signal)
            return (lines, outcome)
        }
        try result.closureResult.1.get()
        return Ending(lines: result.closureResult.0, status: result.terminationStatus)
    }

    /// Makes an edit of app `a` for each text.
    private static func edit(_ server: (String) async throws -> PostgresConnection, _ texts: [String]) async throws {
        let admin = try await server("versiongate_admin")
        for text in texts { try await admin.query("UPDATE apps SET name = $1 WHERE bundle = 'a'", [text]) }
        await admin.close()
    }

    @Test("Each change is printed once, in the order of the commits, however many edit; a signal ends it with 0")
    func inOrder() async throws {
        let database = TestDatabase.current
        try await database.edit("INSERT INTO apps (bundle) VALUES ('a')")
        for (round, signal) in [SIGTERM, SIGINT].enumerated() {
            let count = 1 + 100 * (round + 1)
            let ending = try await follow(endingWith: signal) { printed in
                guard printed.lines.count == 1 else { return printed.lines.count == count }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for editor in 0..<4 {
                        group.addTask {
                            try await Self.edit(
                                { try await database.connect(user: $0) }, (0..<25).map { "\(signal) \(editor) \($0)" }
                            )
                        }
                    }
                    try await group.waitForAll()
                }
                return false
            }
            #expect(ending.ids == Array(1...count))
            #expect(ending.status == .exited(0) && ending.lines.count == count, "\(ending.lines)")
        }
    }

    @Test("A restart of the database loses no change and repeats none")
    func restart() async throws {
        try await OwnServer.with(isMigrated: true) { server in
            let superuser = try await server.connect()
            try await superuser.execute("INSERT INTO apps (bundle) VALUES ('a')")
            await superuser.close()
            let ending = try await follow(server.url(user: "versiongate_viewer")) { printed in
                guard printed.lines.count == 1 else { return printed.ids.count == 41 }
                try await Self.edit({ try await server.connect(user: $0) }, (0..<20).map { "before \($0)" })
                server.kill()
                try await server.ensureRunning()
                try await Self.edit({ try await server.connect(user: $0) }, (0..<20).map { "after \($0)" })
                return false
            }
            #expect(ending.ids == Array(1...41))
            #expect(ending.status == .exited(0))
            let errors = ending.lines.filter { !$0.hasPrefix("{") }
            #expect(errors.first?.hasPrefix("The connection to the database broke") == true, "\(errors)")
            #expect(errors.count == 2 && errors[1].hasSuffix(" again."), "\(errors)")
        }
    }

    @Test("The filters of history hold, and a history that was restored is followed from where it is, with a warning")
    func filtersAndRestores() async throws {
        let database = TestDatabase.current
        let connect: @Sendable (String) async throws -> PostgresConnection = { try await database.connect(user: $0) }
        try await database.edit("INSERT INTO apps (bundle) VALUES ('a')", "INSERT INTO apps (bundle) VALUES ('b')")
        let ending = try await follow(database.url(user: "versiongate_viewer"), ["a"]) { printed in
            switch printed.lines.count {
            case 1:
                try await database.edit("UPDATE apps SET name = 'B' WHERE bundle = 'b'")
                try await Self.edit(connect, ["A"])
            case 2:
                _ = try await database.psql(
                    """
                    BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM changes WHERE id > 2;
                    UPDATE policy_revision SET revision = 2, token = (SELECT token FROM changes WHERE id = 2); COMMIT;
                    """
                )
            case 3: try await Self.edit(connect, ["another"])
            default: return true
            }
            return false
        }
        #expect(ending.ids == [1, 4, 3])
        #expect(
            ending.lines[2].contains("Warning: the history of the database is not the one from before")
                && ending.lines[2].contains("followed from change 2 on"),
            "\(ending.lines)"
        )
    }

    @Test("It ends by itself and quietly when nobody reads it any more")
    func closedPipe() async throws {
        let database = TestDatabase.current
        try await database.edit("INSERT INTO apps (bundle) VALUES ('a')")
        let binary = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_viewer")])
        let result = try await binary.shell("\"$VERSIONGATE\" history --follow --after 0 --oneline | head -n 1")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(result.output.contains("added app a") && result.output.count { $0 == "\n" } == 1, "\(result.output)")
    }

    @Test(
        "What does not fit together is refused",
        arguments: [
            ("--follow --limit 3", 64, "--follow prints every change; leave --limit out."),
            ("--follow --until now", 64, "--follow does not end at a time; leave --until out."),
            ("--follow --since -1h --after 1", 64, "leave out --after or --since"),
            ("--after -1", 64, "--after"),
            ("--follow --after 7", 1, "there is no change 7 to continue from; the newest is 0"),
        ]
    )
    func refusals(_ options: String, _ status: Int, _ words: String) async throws {
        let result = try await BuiltBinary(.current).run("history \(options)")
        #expect(result.status == status && result.errors.contains(words), "\(result.errors)")
    }
}

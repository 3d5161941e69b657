import Foundation
import TestDatabase
import TestRandom
import Testing

@Suite("Private database", .whole)
struct PrivateDatabaseTests {
    /// A state folder that is removed afterwards.
    ///
    /// - Parameter isInitialised: Whether it holds a PostgreSQL with versiongate's schema, which does not run.
    private func withStateDirectory(isInitialised: Bool = true, _ body: (String) async throws -> Void) async throws {
        let path = TestDatabase.freshFolder()
        let result: Result<Void, any Error>
        do {
            if isInitialised { try await ClusterTemplate.copy(to: path, isMigrated: true) }
            result = .success(try await body(path))
        } catch {
            result = .failure(error)
        }
        try? FileManager.default.removeItem(atPath: path)
        try result.get()
    }

    private func postmaster(_ directory: String) throws -> Int32 {
        let files = FileManager.default.enumerator(atPath: directory)
        while let file = files?.nextObject() as? String {
            guard file.hasSuffix("postmaster.pid") else { continue }
            let lines = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8).split(separator: "\n")
            return Int32(lines[0]) ?? 0
        }
        return 0
    }

    @Test("The private PostgreSQL is made and started by whichever of several commands comes first, and all succeed")
    func isMadeInARace() async throws {
        try await withStateDirectory(isInitialised: false) { directory in
            let versiongate = BuiltBinary(stateDirectory: directory)
            let results = try await withThrowingTaskGroup(of: BuiltBinary.Result.self) { group in
                for number in 0..<4 {
                    group.addTask { try await versiongate.run("app add --private com.example.app\(number)") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for result in results { #expect(result.status == 0, "\(result.errors)") }
            let apps = try await versiongate.run("app list --format json").output
            #expect(apps.split(separator: "\n").count == 6)
            #expect(try postmaster(directory) == 0, "nobody uses it any more")
        }
    }

    @Test("The private PostgreSQL serves edits by the command line and by psql, and is down cleanly after SIGTERM")
    func servesAndStops() async throws {
        try await withStateDirectory { directory in
            let versiongate = BuiltBinary(stateDirectory: directory)
            let ending = try await ServingBinary.run(versiongate) { server in
                try await versiongate.run("app add com.example.doto")
                let added = try await versiongate.run(arguments: [
                    "rule", "add", "update", "--bundle", "com.example.doto", "--versions", "<1.2", "--title",
                    "Please update",
                    "--text", "1.2 is there.", "--enable",
                ])
                #expect(added.status == 0, "\(added.errors)")
                try await server.check(UpdateRule.client) { $0.contains("Please update") }
                let psql = try await versiongate.run(arguments: [
                    "database", "psql", "--", "-c", "UPDATE rules SET title = 'By psql'",
                ])
                #expect(psql.status == 0, "\(psql.errors)")
                try await server.check(UpdateRule.client) { $0.contains("By psql") }
            }
            #expect(ending.status == 0, "\(ending.errors)")
            #expect(try postmaster(directory) == 0)
        }
    }

    @Test("The private PostgreSQL killed with SIGKILL under load fails no check, comes back, and edits are live again")
    func survivesAKilledDatabase() async throws {
        try await withStateDirectory { directory in
            let versiongate = BuiltBinary(stateDirectory: directory)
            try await ServingBinary.run(versiongate) { server in
                try await versiongate.run("app add com.example.doto")
                try await versiongate.run("rule add update --bundle com.example.doto --title One --text X --enable")
                try await server.check(UpdateRule.client) { $0.contains("One") }
                let failures = try await withThrowingTaskGroup(of: Int.self) { group in
                    for task in 0..<8 {
                        group.addTask {
                            var failures = 0
                            for check in 0..<LoadedChecks.count / 8 {
                                if task == 0, check == LoadedChecks.count / 40 {
                                    kill(try postmaster(directory), SIGKILL)
                                }
                                let answer = try? await server.check(UpdateRule.client)
                                if answer?.contains("One") != true { failures += 1 }
                            }
                            return failures
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(failures == 0)
                try await versiongate.succeed("rule edit update --title Two")
                try await server.check(UpdateRule.client) { $0.contains("Two") }
            }
        }
    }

    @Test("The private PostgreSQL stops when the server is killed with SIGKILL, and the next command finds everything")
    func survivesAKilledServer() async throws {
        try await withStateDirectory { directory in
            let versiongate = BuiltBinary(stateDirectory: directory)
            try await ServingBinary.run(versiongate) { server in
                try await versiongate.run("app add com.example.doto")
                kill(server.processIdentifier, SIGKILL)
            }
            let list = try await versiongate.run("app list --format json")
            #expect(list.output.contains("com.example.doto"), "\(list.errors)")
            #expect(try postmaster(directory) == 0)
        }
    }
}

import Foundation
import Postgres
import TestDatabase
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyStore
@testable import VersionGateCommands

/// What takes a second session or the documentation; the rest is in `Tests/Cases/commands/policy-file.case`.
@Suite("Policy file commands", .migratedDatabase)
struct PolicyFileCommandTests {
    @Test("A plan on a terminal has colours")
    func hasColours() {
        let row = PolicyChange.Row(
            table: "rules", key: "k", kind: .changed, columns: [.init(name: "os", before: "1", after: nil)]
        )
        let lines = ChangeText(terminal: Terminal(width: 80, usesColor: true), isPlan: true).lines(row)
        #expect(
            lines.joined(separator: "\n").hasPrefix("\u{1B}[33m~ rule k\u{1B}[0m\n    os: \u{1B}[31m1\u{1B}[0m -> "))
    }

    @Test(
        "Applying a policy file waits for an open transaction with the same rows: loses if that commits, wins if it is rolled back",
        arguments: ["COMMIT", "ROLLBACK"]
    )
    func waits(end: String) async throws {
        let database = TestDatabase.current
        try await database.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            "INSERT INTO rules (key, bundle, title, text) VALUES ('k', 'a', 'T', 'X')"
        )
        try await StateFolder.with { folder in
            let file = folder.path + "/policy.yaml"
            let policy = "versiongate: 1\napps: {a: {name: A}}\nrules: {k: {bundle: a, title: File, text: X}}\n...\n"
            try Data(policy.utf8).write(to: URL(fileURLWithPath: file))
            let watcher = try await database.connect()
            let admin = try PsqlSession(database)
            try admin.run("BEGIN; UPDATE rules SET title = 'By psql';")
            async let applied = BuiltBinary(database).run("apply --yes \(file)")
            try await Poll.until("apply to wait for a lock") {
                try await watcher.query(
                    """
                    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
                        AND application_name = 'versiongate' AND wait_event_type = 'Lock')
                    """
                ).value(as: Bool.self)
            }
            try admin.run("\(end);")
            try admin.end()
            let result = try await applied
            let loses = end == "COMMIT"
            #expect(result.status == (loses ? 1 : 0), "\(result.errors)")
            #expect(result.errors.contains("the policy is at revision 3, not at 2") == loses, "\(result.errors)")
            let rows = try await database.psql("SELECT name, title FROM apps, rules").output
            #expect(rows == (loses ? "|By psql\n" : "A|File\n"))
            await watcher.close()
        }
    }
}

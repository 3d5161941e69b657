import Postgres
import Synchronization
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Policy editing", .migratedDatabase)
struct PolicyTransactionTests {
    private static let author = EditAuthor(osUser: "alice", why: "because")

    private func editing() async throws -> (PolicyTransaction, PostgresConnection) {
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        return (PolicyTransaction(connection, logger: TestDatabase.logger), connection)
    }

    @Test("An edit gives the change it made: who, why, and each column before and after")
    func reportsTheChange() async throws {
        let (editing, _) = try await editing()
        let added = try #require(
            try await editing.commit(by: Self.author) { editor in
                try editor.insert([
                    .init(\Rule.key, "k"), .init(\.title, "t"), .init(\.text, "x"), .init(\.rollout, written: "12.5"),
                ])
            }
        )
        #expect(added.role == "versiongate_admin")
        #expect(added.osUser == "alice")
        #expect(added.why == "because")
        #expect(added.rows.map(\.kind) == [.added])
        #expect(added.rows.map(\.key) == ["k"])
        #expect(added.rows[0].columns.contains(PolicyChange.Column(name: "rollout", before: nil, after: "12.5")))

        let changed = try #require(
            try await editing.commit(by: Self.author) { editor in
                try editor.update(
                    where: [.init(\Rule.key, "k")],
                    set: [.init(\.rollout, written: "25"), .init(\.title, "t")]
                )
            }
        )
        #expect(changed.id == added.id + 1)
        #expect(changed.rows[0].columns == [PolicyChange.Column(name: "rollout", before: "12.5", after: "25")])
    }

    @Test("An edit is nothing when nothing differs")
    func reportsNothing() async throws {
        let (editing, _) = try await editing()
        _ = try await editing.commit(by: Self.author) { try $0.insert([.init(\App.bundle, "a")]) }
        let change = try await editing.commit(by: Self.author) { editor in
            try editor.update(where: [.init(\App.bundle, "A")], set: [.init(\.paused, false)])
        }
        #expect(change == nil)
    }

    @Test("An edit leaves everything as it was when a part is refused")
    func leavesNothingBehind() async throws {
        let (editing, connection) = try await editing()
        await #expect(throws: PostgresError.self) {
            try await editing.commit(by: Self.author) { editor in
                try editor.insert([.init(\App.bundle, "a")])
                try editor.insert([.init(\Rule.key, "k"), .init(\.title, ""), .init(\.text, "x")])
            }
        }
        #expect(try await connection.query("SELECT count(*) FROM apps").value(as: Int.self) == 0)
        #expect(try await connection.query("SELECT count(*) FROM changes").value(as: Int.self) == 0)
    }

    @Test(
        "An edit that another one overtakes while it is tried is tried again, also where it affects no client"
    )
    func isOvertaken() async throws {
        let (editing, _) = try await editing()
        _ = try await editing.commit(by: Self.author) {
            try $0.insert([.init(\Rule.key, "k"), .init(\.title, "t"), .init(\.text, "x")])
        }
        let database = TestDatabase.current
        let attempts = Mutex(0)
        let dryRun = try await editing.dryRun { editor in
            let isFirst = attempts.withLock { attempts in
                attempts += 1
                return attempts == 1
            }
            if isFirst {
                // The state that was read before this is no longer the one that the edit is judged in.
                editor.session.hold {
                    _ = try await database.psql("UPDATE rules SET lockout = true, versions = '<1'")
                }
            }
            try editor.update(where: [.init(\Rule.key, "k")], set: [.init(\.title, "u")])
        }
        #expect(attempts.withLock(\.self) == 2)
        #expect(dryRun?.base.revision == 2 && dryRun?.change.id == 3)
        // The rule is disabled.
        #expect(dryRun?.reach == nil)
        #expect(try await database.psql("SELECT title, lockout FROM rules").output == "t|t\n")
    }
}

import PolicyDocument
import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Round trip")
struct RoundTripTests {
    private static let seeds: [UInt64] = Array(1...UInt64(Trials.count(12)))

    @Test(
        "A policy file holds every row as it is, however awkward its texts are",
        arguments: 1...UInt64(Trials.count(300))
    )
    func keepsRows(seed: UInt64) throws {
        var generator = PolicyGenerator(AwkwardPolicies.style, seed: seed)
        let policy = generator.policy()
        let text = PolicyDocument.text(of: policy, revision: 1)
        let read = try PolicyDocument(Array(text.utf8)).policy
        #expect(read.contents == policy.contents, "seed \(seed)\n\(text)")
        #expect(PolicyDifference(from: policy, to: read).edits.isEmpty)
    }

    @Test(
        "A policy file is the same text for the same rows, and changes nothing when it is applied", .migratedDatabase,
        arguments: seeds
    )
    func changesNothing(seed: UInt64) async throws {
        var generator = PolicyGenerator(AwkwardPolicies.style, seed: seed)
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        for _ in 0..<4 {
            // From whatever stands in the database to another policy, which is then what stands there.
            let wanted = generator.policy()
            try await Self.apply(wanted, connection)
            let (version, present) = try await Self.present(connection)
            #expect(present.contents == wanted.contents, "seed \(seed)")

            let text = PolicyDocument.text(of: present, revision: version.revision)
            let document = try PolicyDocument(Array(text.utf8))
            #expect(PolicyDifference(from: present, to: document.policy).edits.isEmpty, "seed \(seed)\n\(text)")
            #expect(PolicyDocument.text(of: document.policy, revision: version.revision) == text, "seed \(seed)")
            try await Self.apply(document.policy, connection)
            #expect(try await Self.present(connection).0 == version)
        }
        await connection.close()
    }

    @Test("A policy file makes an empty database what another one was", .migratedDatabase, arguments: seeds)
    func restores(seed: UInt64) async throws {
        var generator = PolicyGenerator(AwkwardPolicies.style, seed: seed &+ 1000)
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await Self.apply(generator.policy(), connection)
        let text = PolicyDocument.text(of: try await Self.present(connection).1, revision: 1)
        try await Self.apply(Policy(revision: 0, token: ""), connection)
        #expect(try await Self.present(connection).1.contents.isEmpty)
        try await Self.apply(try PolicyDocument(Array(text.utf8)).policy, connection)
        #expect(PolicyDocument.text(of: try await Self.present(connection).1, revision: 1) == text, "seed \(seed)")
        await connection.close()
    }

    private static func present(_ connection: PostgresConnection) async throws -> (PolicyVersion, Policy) {
        try await connection.transaction(.repeatableReadReadOnly) {
            (try PolicyReader.version($0), try PolicyReader.editedPolicy($0))
        }
    }

    private static func apply(_ wanted: Policy, _ connection: PostgresConnection) async throws {
        let (version, present) = try await Self.present(connection)
        let difference = PolicyDifference(from: present, to: wanted)
        do {
            _ = try await PolicyTransaction(connection, logger: TestDatabase.logger)
                .commit(by: EditAuthor(osUser: nil, why: nil), consent: wanted.rules.map(\.key)) {
                    try $0.make(difference, from: version)
                }
        } catch let refusals as PolicyRefusals {
            Issue.record("\(refusals.refusals.map { ($0.error.message, $0.error.detail ?? "") })")
            throw refusals
        }
    }
}

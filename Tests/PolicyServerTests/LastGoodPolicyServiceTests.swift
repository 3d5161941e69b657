import Foundation
import Logging
import TestChecks
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Last good policy service")
struct LastGoodPolicyServiceTests {
    private let place = TestFolder()
    private static let noon = Timestamp(microsecondsSince1970: 1_772_366_400_000_000)

    @Test("The service writes again what could not be written, without another edit")
    func writesAgain() async throws {
        let folder = place.path
        // A file in the place of the folder keeps the policy from being written.
        try Data().write(to: URL(fileURLWithPath: folder))
        let file = LastGoodPolicyFile(stateDirectory: folder)
        let log = LogRecord()
        var state = ServerState.test(logger: log.logger)
        state.file = file
        let policy = state.policy
        policy.replace(with: try ExamplePolicy.policy(revision: 7), at: Self.noon)
        let service = LastGoodPolicyService(state: state, retryInterval: .milliseconds(10))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await service.run() }
            for await message in log.messages where message.hasPrefix("The policy cannot be kept on disk") { break }
            #expect(policy.status.fileFault?.contains(file.path) == true)
            try FileManager.default.removeItem(atPath: folder)
            for await message in log.messages where message == "The policy is on disk again" { break }
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
        #expect(policy.status.fileFault == nil)
        #expect(try file.read()?.revision == 7)
        // However often it was tried, the fault was told once.
        #expect(log.entries.filter { $0.level == .warning }.count == 1)
    }

    /// A start, without a database, of a server in whose folder the policies 3 and 7 have passed and 7 is the newest.
    private struct Start {
        private let place = TestFolder()
        var folder: String { place.path }
        let clock = PolicyTrialTests.Clock()
        let log = LogRecord()
        let state: ServerState
        var policy: LivePolicy { state.policy }

        init(deathsOf token: String, passed: [Int64] = [3, 7]) throws {
            let folder = place.path
            let file = LastGoodPolicyFile(stateDirectory: folder)
            var writer = LastGoodPolicyFileWriter(file)
            for revision in passed {
                let policy = try ExamplePolicy.policy(revision: revision)
                try writer.write(policy)
                try file.keepAsPassed(policy.version)
            }
            try writer.write(try ExamplePolicy.policy(revision: 7))
            for seconds in [1.0, 3] { try PolicyTrialTests.die(of: token, seconds, in: folder) }
            var state = ServerState.test(logger: log.logger, clock: { [clock] in clock.now() })
            state.file = file
            state.trial = PolicyTrial(stateDirectory: folder, clock: state.clock)
            self.state = state
            let now = clock.now()
            policy.update { $0.fail("the database is away", at: now) }
        }

        /// Runs the service until `body` is over.
        func run(_ body: () async throws -> Void) async throws {
            let service = LastGoodPolicyService(state: state, retryInterval: .milliseconds(5))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await service.run() }
                try await policy.firstLoadAttempt()
                try await body()
                tasks.cancelAll()
                try await tasks.waitForAll()
            }
        }

        /// The revision that answers, and whether it sends lockouts.
        var answering: [String] {
            policy.current.map { ["\($0.revision)", $0.sendsLockouts ? "lockouts" : "none"] } ?? []
        }
    }

    @Test("What stands in for a policy that servers died of sends no lockouts, and says so, until ten minutes are over")
    func standsIn() async throws {
        let start = try Start(deathsOf: "token-7")
        try await start.run {
            #expect(start.answering == ["3", "none"])
            #expect(start.state.isReady)
            #expect(start.state.readiness().text.contains("until 2026-03-01T12:09:57Z or the next edit"))
            let critical = start.log.entries.filter { $0.level == .critical }
            #expect(critical.count == 1 && critical.first?.metadata["policy.revision"] == "3")
            // A brake that comes and goes meanwhile brings no lockout back.
            let brake = PolicyStatus.Brake(file: BrakeFile(path: "/brake"), why: "")
            start.policy.update { $0.brake = brake }
            start.policy.update { $0.brake = nil }
            #expect(start.answering == ["3", "none"])
            start.clock.set(596.9)
            #expect(start.answering == ["3", "none"])
            start.clock.set(597)
            try await Poll.until("the newest policy") { start.answering == ["7", "lockouts"] }
            #expect(start.policy.status.standsInUntil == nil && start.policy.status.source == .file)
        }
    }

    @Test("Any policy of the database ends it at once, and its lockouts are sent unless the brake is on")
    func endsWithTheNextPolicy() async throws {
        for isBraked in [false, true] {
            let start = try Start(deathsOf: "token-7")
            try await start.run {
                if isBraked {
                    start.policy.update { $0.brake = PolicyStatus.Brake(file: BrakeFile(path: "/brake"), why: "") }
                }
                start.policy.replace(with: try ExamplePolicy.policy(revision: 8), at: start.clock.now())
                #expect(start.answering == ["8", isBraked ? "none" : "lockouts"])
                #expect(!start.policy.status.isHoldingBack)
            }
        }
    }

    @Test("Where servers died of another policy, or none has passed before, the newest one on disk answers as ever")
    func takesTheNewest() async throws {
        for start in [try Start(deathsOf: "token-7", passed: [7]), try Start(deathsOf: "token-7", passed: [])] {
            try await start.run { #expect(start.answering == ["7", "lockouts"]) }
        }
        // A newer policy, of which only the notes are left, may have taken lockouts away.
        let start = try Start(deathsOf: "token-9")
        try await start.run { #expect(start.answering == ["7", "none"]) }
    }

    @Test("Where the policy that would stand in cannot be read, the newest one answers")
    func readsNoDamagedFile() async throws {
        let start = try Start(deathsOf: "token-7", passed: [3])
        let path = LastGoodPolicyFile(stateDirectory: start.folder).passed[0].path
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try whole.dropLast(9).write(to: URL(fileURLWithPath: path))
        try await start.run { #expect(start.answering == ["7", "lockouts"]) }
        #expect(start.log.entries.contains { $0.message.contains("cannot be used and is set aside") })
    }
}

import CheckListener
import Foundation
import Logging
import Postgres
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Follower progress")
struct FollowerProgressTests {
    private static let now = Timestamp(microsecondsSince1970: 1_800_000_000_000_000)

    @Test("The follower stands still when its step takes longer than it may, which /ready and the metrics tell")
    func tellsThatItStandsStill() {
        let state = ServerState.test(
            clock: { Timestamp(microsecondsSince1970: Self.now.microsecondsSince1970 + 2_500_000) }
        )
        let policy = state.policy
        let start = ContinuousClock.now
        func ready(_ seconds: Int, _ text: String) -> Bool {
            state.readiness(at: start + .seconds(seconds)).text.contains(text)
        }
        let (stalled, steady) = (#""followerStalled":true"#, #""followerStalled":false"#)
        #expect(ready(3_600, steady), "there is none yet")
        #expect(!ready(0, "lastPolledAt"))

        policy.update { status in
            status.followerDue = start + .seconds(30)
            status.lastPolledAt = Self.now
        }
        #expect(ready(30, steady))
        #expect(ready(31, stalled))
        #expect(ready(0, "\"lastPolledAt\":\"\(Self.now)\""))

        policy.update { $0.followerDue = start - .seconds(1) }
        let text = ServerMetrics(state: state).document
        #expect(text.contains("\nversiongate_policy_follower_stalled 1\n"))
        #expect(text.contains("\nversiongate_policy_poll_age_seconds 2.5\n"))

        policy.update { $0.followerDue = nil }
        #expect(ready(3_600, steady), "it has ended")
    }

    @Test("The follower does not stand still while the database is down, because it goes on trying")
    func goesOnWithoutADatabase() async throws {
        let record = LogRecord()
        let (attempts, attempted) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        let state = ServerState.test(
            database: {
                attempted.yield(.now)
                return PostgresConfiguration(connectionString: "postgresql://127.0.0.1:1/nothing")
            }, logger: record.logger
        )
        let policy = state.policy
        let follower = PolicyFollower(state: state)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                var follower = follower
                await follower.run()
            }
            var iterator = attempts.makeAsyncIterator()
            for _ in 1...2 { _ = await iterator.next() }
            let last = try #require(await iterator.next())
            let due = try #require(policy.status.followerDue)
            #expect(due > last, "it has taken a step since")
            #expect(!policy.status.databaseIsReachable)
            #expect(policy.status.lastPolledAt == nil)
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
        #expect(policy.status.followerDue == nil, "it has ended")
        let entry = try #require(record.entries.first)
        #expect(entry.message == "The database cannot be reached")
        #expect(entry.metadata["checks.answer"] == "no messages, as there is no policy")
    }
}

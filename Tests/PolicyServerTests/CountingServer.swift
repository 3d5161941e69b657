import CheckListener
import NIOPosix
import PolicyStore
import Postgres
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

/// A server without its listener: it answers checks on one event loop, counts them, and writes the counts.
struct CountingServer {
    let counting: CheckCounting
    let recorder: CheckRecorder
    let delivery: CountDelivery
    let log = LogRecord()
    var policy: CompiledPolicy

    init(
        _ policy: CompiledPolicy,
        maximumKinds: Int = 100,
        clock: @escaping @Sendable () -> Timestamp = { CountedPolicy.noon },
        database: @escaping @Sendable () -> PostgresConfiguration
    ) throws {
        self.policy = policy
        let group = MultiThreadedEventLoopGroup.singleton
        counting = CheckCounting(eventLoopGroup: group, maximumKinds: maximumKinds)
        recorder = try #require(counting.recorders[group.next()])
        delivery = CountDelivery(.test(database: database, logger: log.logger, clock: clock), counting)
    }

    func answer(_ client: [String: String], times: Int = 1) throws {
        for _ in 0..<times { try recorder.answer(policy, CountedPolicy.client(client)) }
    }

    func deliver(isLast: Bool = false) async { await delivery.deliver(isLast: isLast, within: .seconds(60)) }
}

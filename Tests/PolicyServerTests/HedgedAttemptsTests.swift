import Synchronization
import Testing

@testable import PolicyServer

@Suite("Hedged attempts")
final class HedgedAttemptsTests: Sendable {
    private struct Refusal: Error, Equatable {
        let number: Int
    }

    private let attempts = HedgedAttempts(interval: .milliseconds(1), limit: 3)
    private let begun = Mutex(0)

    private func begin() -> Int {
        begun.withLock { count in
            count += 1
            return count
        }
    }

    /// Never returns, until the task is cancelled.
    private static func hang() async throws {
        for await _ in AsyncStream<Never>.makeStream().stream {}
        throw CancellationError()
    }

    @Test("Attempts succeed where the first ones hang", .timeLimit(.minutes(20)))
    func succeeds() async throws {
        let number = try await attempts.firstSuccess(
            of: {
                let number = self.begin()
                if number < 3 { try await Self.hang() }
                return number
            },
            onFailure: { Issue.record($0) }
        )
        #expect(number == 3)
    }

    @Test("Attempts end with the error of the only one that was under way")
    func fails() async {
        let error = await #expect(throws: Refusal.self) {
            let never = HedgedAttempts(interval: .seconds(3600), limit: 3)
            try await never.firstSuccess(of: { throw Refusal(number: self.begin()) }, onFailure: { Issue.record($0) })
        }
        #expect(error == Refusal(number: 1))
    }

    @Test("Attempts go on after a failure while others are under way, and tell it", .timeLimit(.minutes(20)))
    func tellsFailures() async throws {
        var failures: [Refusal] = []
        let number = try await attempts.firstSuccess(
            of: {
                let number = self.begin()
                switch number {
                case 1: try await Self.hang()
                case 2...5: throw Refusal(number: number)
                default: break
                }
                return number
            },
            onFailure: { failures.append($0 as? Refusal ?? Refusal(number: 0)) }
        )
        #expect(number == 6)
        #expect(failures == (2...5).map { Refusal(number: $0) })
    }

    @Test("Attempts are no more at once than the limit, and begin again when one ends", .timeLimit(.minutes(20)))
    func keepsTheLimit() async throws {
        let underWay = Mutex(0)
        let (failed, failure) = AsyncStream<Void>.makeStream()
        let number = try await attempts.firstSuccess(
            of: {
                let number = self.begin()
                let count = underWay.withLock { count in
                    count += 1
                    return count
                }
                #expect(count <= 3)
                defer { underWay.withLock { $0 -= 1 } }
                switch number {
                case 1, 2: try await Self.hang()
                case 3: throw Refusal(number: 3)
                default: for await _ in failed { break }
                }
                return number
            },
            onFailure: { _ in failure.yield() }
        )
        #expect(number == 4)
    }

    @Test("Attempts end when their task is cancelled", .timeLimit(.minutes(20)))
    func cancels() async {
        let attempts = attempts
        let (started, start) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await attempts.firstSuccess(
                of: {
                    start.finish()
                    try await Self.hang()
                },
                onFailure: { _ in }
            )
        }
        for await _ in started {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

import NIOHTTP1
import Synchronization
import TestSystem

/// Checks that are asked again and again while something is done to a server or its database.
struct SteadyChecks: Sendable {
    /// How many checks were asked and how many were not answered by 200.
    struct Count: Sendable {
        var sent = 0
        var failures: [String] = []
    }

    /// Asks at each of these addresses, by two clients each, while `body` runs, and at least once after it.
    static func at(_ addresses: [String], while body: @Sendable () async throws -> Void) async throws -> Count {
        let end = End()
        return try await withThrowingTaskGroup(of: Count.self) { tasks in
            for address in addresses + addresses {
                tasks.addTask {
                    var count = Count()
                    var isLast = false
                    while !isLast {
                        isLast = end.hasCome.load(ordering: .relaxed)
                        count.sent += 1
                        if let failure = await failure(at: address) { count.failures.append(failure) }
                    }
                    return count
                }
            }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            end.hasCome.store(true, ordering: .relaxed)
            let count = try await tasks.reduce(into: Count()) { sum, part in
                sum.sent += part.sent
                sum.failures += part.failures
            }
            try result.get()
            return count
        }
    }

    /// When no further check is asked.
    private final class End: Sendable {
        let hasCome = Atomic(false)
    }

    private static func failure(at address: String) async -> String? {
        do {
            let answer = try await HTTPAnswer(address + "/v1/check", method: .POST, body: UpdateRule.client)
            return answer.status == 200 ? nil : "\(answer.status)"
        } catch {
            return "\(error)"
        }
    }
}

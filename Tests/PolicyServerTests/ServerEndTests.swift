import Synchronization
import Testing

@testable import PolicyServer

@Suite("End of the server", .timeLimit(.minutes(1)))
struct ServerEndTests {
    private struct Fault: Error, Equatable { let part: Int }

    /// How many parts have ended.
    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    /// A part that goes on until it is cancelled, and then is noted.
    private static func endless(_ ended: Counter) -> ServerEnd.Part {
        (
            "endless",
            {
                try? await Task.sleep(for: .seconds(3_600))
                ended.count.withLock { $0 += 1 }
            }
        )
    }

    @Test("A part that fails ends the server in the same order as a signal does, and is why; no part goes on")
    func endsWithAPart() async throws {
        let end = ServerEnd()
        let ended = Counter()
        let fails = Latch()
        await #expect(throws: Fault(part: 2)) {
            try await end.run([
                Self.endless(ended),
                (
                    "failing",
                    {
                        try await fails.wait()
                        throw Fault(part: 2)
                    }
                ),
            ]) {
                fails.open()
                await end.requested()
                #expect(ended.count.withLock(\.self) == 0)
                throw Fault(part: 3)
            }
        }
        #expect(ended.count.withLock(\.self) == 1)
    }

    @Test("A part that returns before it is cancelled ends the server with an error that names it")
    func endsWithAPartThatReturns() async throws {
        let end = ServerEnd()
        let ended = Counter()
        let error = await #expect(throws: ServerEnd.EndedByItself.self) {
            try await end.run([Self.endless(ended), ("brief", {})]) { await end.requested() }
        }
        #expect(error.map { "\($0)" } == "a part of the server has ended by itself: brief")
        #expect(ended.count.withLock(\.self) == 1)
    }

    @Test("A part that fails ends the wait for what will never come, and so the start of the server")
    func endsTheStart() async throws {
        let start = Latch()
        let end = ServerEnd(onRequest: { start.open() })
        await #expect(throws: Fault(part: 1)) {
            try await end.run([("failing", { throw Fault(part: 1) })]) { try await start.wait() }
        }
    }

    @Test("A server that is asked to end, or cannot be opened, ends its parts")
    func endsParts() async throws {
        for opens in [true, false] {
            let end = ServerEnd()
            let ended = Counter()
            let run = Task {
                try await end.run([Self.endless(ended)]) {
                    guard opens else { throw Fault(part: 0) }
                    end.request()
                    await end.requested()
                }
            }
            let result = await run.result
            #expect(((try? result.get()) != nil) == opens)
            #expect(ended.count.withLock(\.self) == 1)
        }
    }
}

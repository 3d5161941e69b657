import Foundation
import Logging
import NIOCore
import NIOPosix
import Systemd
import TestSystem
import Testing

@testable import PolicyServer

@Suite("Watchdog")
struct WatchdogTests {
    /// A watchdog of one event loop with a socket that receives its signs of life.
    private struct Watched {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let socket: DatagramSocket
        let policy = LivePolicy()
        let record = LogRecord()
        let watchdog: Watchdog

        init() throws {
            socket = try DatagramSocket(.abstract("versiongate-test-\(UUID().uuidString)"))
            let manager = try SystemdNotifier(
                environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "20000"], processID: 1
            )
            watchdog = Watchdog(manager: manager, eventLoopGroup: group, policy: policy, logger: record.logger)
        }
    }

    @Test("The watchdog sends no keep-alive while an event loop runs no tasks, and sends them again once it does")
    func noticesALoopThatHangs() async throws {
        let healthy = try Watched()
        let hanging = try Watched()
        let release = DispatchSemaphore(value: 0)
        hanging.group.next().execute { release.wait() }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for watched in [healthy, hanging] { tasks.addTask { await watched.watchdog.run() } }
            var signs = healthy.socket.messages.makeAsyncIterator()
            for _ in 1...5 { #expect(await signs.next() == "WATCHDOG=1") }
            // A message of the test's own would come after a sign of the one that hangs.
            let manager = try SystemdNotifier(environment: ["NOTIFY_SOCKET": hanging.socket.name], processID: 1)
            try manager?.notify([.status("still hanging")])
            var messages = hanging.socket.messages.makeAsyncIterator()
            #expect(await messages.next() == "STATUS=still hanging")
            release.signal()
            #expect(await messages.next() == "WATCHDOG=1")
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
        for watched in [healthy, hanging] {
            watched.socket.close()
            try await watched.group.shutdownGracefully()
        }
    }

    @Test("The watchdog sends no keep-alive while the follower of the database is stalled, and the log reports it")
    func noticesAFollowerThatStandsStill() async throws {
        let watched = try Watched()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await watched.watchdog.run() }
            var messages = watched.socket.messages.makeAsyncIterator()
            #expect(await messages.next() == "WATCHDOG=1")
            watched.policy.update { $0.followerDue = .now - .seconds(1) }
            var logged = watched.record.messages.makeAsyncIterator()
            #expect(await logged.next() == "The follower of the database stands still; edits do not arrive")
            // A message of the test's own comes after the signs that were given before.
            let manager = try SystemdNotifier(environment: ["NOTIFY_SOCKET": watched.socket.name], processID: 1)
            try manager?.notify([.status("still standing")])
            while let message = await messages.next(), message == "WATCHDOG=1" {}
            watched.policy.update { $0.followerDue = .now + .seconds(3_600) }
            #expect(await logged.next() == "The follower of the database continues")
            #expect(await messages.next() == "WATCHDOG=1")
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
        watched.socket.close()
        try await watched.group.shutdownGracefully()
    }
}

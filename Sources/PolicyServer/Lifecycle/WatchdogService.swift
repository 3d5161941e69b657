import Logging
import NIOCore
import ServiceLifecycle
import Systemd

/// Sends a keep-alive to the service manager twice in its interval, as long as every event loop runs tasks and the
/// follower of the database makes progress.
///
/// While the follower is stalled, checks are answered, but edits do not arrive. So the log reports it, and the service
/// manager may restart the server.
///
/// It is the first of the services, so it ends last: a shutdown that hangs is noticed too.
struct WatchdogService: Service {
    let interval: Duration
    let eventLoopGroup: any EventLoopGroup
    /// Receives the keep-alives; nil where no service manager wants them.
    let supervision: Supervision?
    let policy: LivePolicy
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isStalled = false
            var lookedStalled = false
            while !Task.isCancelled {
                try? await everyLoopAnswers()
                let wasStalled = isStalled
                let looksStalled = policy.status.followerIsStalled(at: .now)
                // Only at the second time in a row: the whole process may have been stopped for a while.
                isStalled = looksStalled && lookedStalled
                lookedStalled = looksStalled
                if isStalled != wasStalled { report(isStalled) }
                if !isStalled { supervision?.notify(.watchdog) }
                try? await Task.sleep(for: interval / 2)
            }
        }
    }

    private func report(_ isStalled: Bool) {
        let metadata: Logger.Metadata = ["policy.polled": "\(policy.status.lastPolledAt.map { "\($0)" } ?? "never")"]
        if isStalled {
            logger.error("The follower of the database stands still; edits do not arrive", metadata: metadata)
        } else {
            logger.notice("The follower of the database goes on", metadata: metadata)
        }
    }

    private func everyLoopAnswers() async throws {
        for eventLoop in eventLoopGroup.makeIterator() {
            try await eventLoop.submit {}.get()
        }
    }
}

import Logging
import NIOCore
import Systemd

/// Notifies the service manager, if there is one. A failure is logged and has no other effect.
struct Supervision: Sendable {
    let manager: SystemdNotifier?
    let logger: Logger

    /// Sends states to the service manager.
    func notify(_ states: SystemdNotifier.State...) {
        guard let manager else { return }
        do throws(SystemdError) {
            try manager.notify(states)
        } catch {
            logger.warning("The service manager cannot be notified", metadata: ["error": "\(error)"])
        }
    }
}

/// Sends a keep-alive to the service manager twice in its interval, as long as every event loop runs tasks and the
/// follower of the database makes progress.
///
/// While the follower is stalled, checks are answered, but edits do not arrive. So the log reports it, and the service
/// manager may restart the server.
struct Watchdog: Sendable {
    let interval: Duration
    let eventLoopGroup: any EventLoopGroup
    /// Receives the keep-alives; nil where no service manager wants them.
    let supervision: Supervision?
    let policy: LivePolicy
    let logger: Logger

    /// Watches until the task is cancelled.
    func run() async {
        var isStalled = false
        var lookedStalled = false
        while !Task.isCancelled {
            for eventLoop in eventLoopGroup.makeIterator() { try? await eventLoop.submit {}.get() }
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

    private func report(_ isStalled: Bool) {
        let metadata: Logger.Metadata = ["policy.polled": "\(policy.status.lastPolledAt.map { "\($0)" } ?? "never")"]
        if isStalled {
            logger.error("The follower of the database stands still; edits do not arrive", metadata: metadata)
        } else {
            logger.notice("The follower of the database goes on", metadata: metadata)
        }
    }
}

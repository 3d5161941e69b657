import Logging
import NIOCore
import Systemd

/// Sends a keep-alive to the service manager twice in its interval, as long as every event loop runs tasks and the
/// follower of the database makes progress.
///
/// While the follower is stalled, checks are answered, but edits do not arrive. So the log reports it, and the service
/// manager may restart the server.
struct Watchdog: Sendable {
    /// The interval at which the follower is checked where no service manager sets one.
    private static let usualInterval: Duration = .seconds(20)

    /// Receives the keep-alives; nil where nothing wants them.
    let manager: SystemdNotifier?
    let eventLoopGroup: any EventLoopGroup
    let policy: LivePolicy
    let logger: Logger

    /// Watches until the task is cancelled.
    func run() async {
        let interval = manager?.watchdogInterval
        var (isStalled, lookedStalled) = (false, false)
        while !Task.isCancelled {
            for eventLoop in eventLoopGroup.makeIterator() { try? await eventLoop.submit {}.get() }
            let wasStalled = isStalled
            let looksStalled = policy.status.followerIsStalled(at: .now)
            // Only at the second time in a row: the whole process may have been stopped for a while.
            (isStalled, lookedStalled) = (looksStalled && lookedStalled, looksStalled)
            if isStalled != wasStalled { report(isStalled) }
            if !isStalled, interval != nil { manager?.notify(.watchdog, logger: logger) }
            try? await Task.sleep(for: (interval ?? Self.usualInterval) / 2)
        }
    }

    private func report(_ isStalled: Bool) {
        let metadata: Logger.Metadata = ["policy.polled": "\(policy.status.lastPolledAt.map { "\($0)" } ?? "never")"]
        if isStalled {
            logger.error("The follower of the database stands still; edits do not arrive", metadata: metadata)
        } else {
            logger.notice("The follower of the database continues", metadata: metadata)
        }
    }
}

extension SystemdNotifier {
    /// Sends states to the service manager. A failure is logged and has no other effect.
    func notify(_ states: State..., logger: Logger) {
        do throws(SystemdError) {
            try notify(states)
        } catch {
            logger.warning("The service manager cannot be notified", metadata: ["error": "\(error)"])
        }
    }
}

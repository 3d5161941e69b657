// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import NIOCore
import ServiceLifecycle
import Systemd

/// Gives the service manager a sign of life twice in its interval, while every event loop takes its turn and the
/// follower of the database takes its steps.
///
/// Checks are answered also while the follower stands still, but by a policy that nobody can change any more, so the log
/// tells it, and a service manager may restart the server.
///
/// It is the first of the services, so it ends last: a shutdown that hangs is noticed too.
struct WatchdogService: Service {
    let interval: Duration
    let eventLoopGroup: any EventLoopGroup
    /// Who is given the signs of life; nil: nobody asked for any.
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
                // At the second look in a row, for this whole process may have been stopped for a while.
                isStalled = looksStalled && lookedStalled
                lookedStalled = looksStalled
                if isStalled != wasStalled { report(isStalled) }
                if !isStalled { supervision?.tell(.watchdog) }
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import NIOCore
import ServiceLifecycle
import ServiceManager

/// Gives the service manager a sign of life twice in its interval, while every event loop takes its turn.
///
/// It is the first of the services, so it ends last: a shutdown that hangs is noticed too.
struct WatchdogService: Service {
    let interval: Duration
    let eventLoopGroup: any EventLoopGroup
    let supervision: Supervision

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await everyLoopAnswers()
                supervision.tell(.watchdog)
                try? await Task.sleep(for: interval / 2)
            }
        }
    }

    private func everyLoopAnswers() async throws {
        for eventLoop in eventLoopGroup.makeIterator() {
            try await eventLoop.submit {}.get()
        }
    }
}

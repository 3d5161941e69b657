// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization

/// Whether the server is shutting down, which `/ready` shows to load balancers before any connection ends.
final class ServingState: Sendable {
    private let ending = Atomic(false)

    /// Whether the server is shutting down.
    var isShuttingDown: Bool { ending.load(ordering: .relaxed) }

    /// Notes that the server shuts down.
    func beginShutdown() {
        ending.store(true, ordering: .relaxed)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Runs the management listener; reports with ``ListenerError`` that it cannot be opened, and ends without waiting for clients.
///
/// Its connections have an event loop of their own, so that pages, scrapes and probes take no turn on those that answer checks.
struct ManagementService<App: ApplicationProtocol>: Service {
    let application: App
    let address: ListenAddress
    let connections: ManagementConnections
    let logger: Logger

    /// How long requests that are under way may take when the listener ends.
    private static var lastRequests: Duration { .seconds(1) }

    func run() async throws {
        do {
            try await runUntilShutdown()
        } catch let error as IOError {
            throw ListenerError(listener: "management", address: address, reason: error)
        }
    }

    /// Runs the application in a group of its own, which is shut down gracefully also when this task is cancelled: a
    /// cancelled listener would log errors that are none.
    private func runUntilShutdown() async throws {
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [application], logger: logger))
        let end: @Sendable () -> Void = {
            Task {
                await group.triggerGracefulShutdown()
                try? await Task.sleep(for: Self.lastRequests)
                connections.closeAll()
            }
        }
        let running = Task.detached { try await group.run() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await running.value
            } onGracefulShutdown: {
                end()
            }
        } onCancel: {
            end()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Hummingbird
import NIOCore
import ServiceLifecycle

/// Runs the management listener, and says in our words when it cannot be opened.
struct ManagementService<App: ApplicationProtocol>: Service {
    let application: App
    let address: ListenAddress

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            throw ListenerError(listener: "management", address: address, reason: error)
        }
    }
}

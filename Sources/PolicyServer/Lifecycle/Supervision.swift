// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import ServiceManager

/// What the service manager is told, if there is one; that it cannot be told is logged and stops nothing.
struct Supervision: Sendable {
    let manager: ServiceManager?
    let logger: Logger

    /// Tells the service manager.
    func tell(_ states: ServiceManager.State...) {
        guard let manager else { return }
        do throws(ServiceManagerError) {
            try manager.notify(states)
        } catch {
            logger.warning("The service manager cannot be told", metadata: ["error": "\(error)"])
        }
    }
}

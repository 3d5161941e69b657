// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import Systemd

/// What the service manager is told, if there is one; that it cannot be told is logged and stops nothing.
struct Supervision: Sendable {
    let manager: SystemdNotifier?
    let logger: Logger

    /// Tells the service manager.
    func tell(_ states: SystemdNotifier.State...) {
        guard let manager else { return }
        do throws(SystemdError) {
            try manager.notify(states)
        } catch {
            logger.warning("The service manager cannot be told", metadata: ["error": "\(error)"])
        }
    }
}

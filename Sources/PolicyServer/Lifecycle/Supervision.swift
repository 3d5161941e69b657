import Logging
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

import Foundation
import Synchronization

/// Handles SIGHUP, which a reload of the service, the end of a terminal and the rotation of logs send: it never ends the
/// process.
enum ReloadSignal {
    private static let request = SignalWakeup()
    private static let onSignal = Mutex<(@Sendable () -> Void)?>(nil)

    /// From now on SIGHUP calls `body`, on a thread of its own.
    static func trap(_ body: @escaping @Sendable () -> Void) {
        let isFirst = onSignal.withLock { current in
            defer { current = body }
            return current == nil
        }
        guard isFirst else { return }
        // Created here, because the signal handler must not create it.
        let request = request
        SignalWakeup.startThread("reload") {
            while true {
                request.wait()
                onSignal.withLock { $0 }?()
            }
        }
        signal(SIGHUP) { _ in
            let error = errno
            ReloadSignal.request.signal()
            errno = error
        }
    }
}

import Logging
import ServiceLifecycle
import Systemd

/// The first step of a shutdown: `/ready` answers 503, and everything else goes on until load balancers have noticed.
///
/// It is the last of the services, which are shut down in the reverse order, each when the one after it has ended.
struct DrainService: Service {
    let state: ServingState
    let duration: Duration
    let supervision: Supervision
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        state.beginShutdown()
        logger.notice("The server is shutting down", metadata: ["drain": "\(duration)"])
        supervision.notify(.stopping)
        try await Task.sleep(for: duration)
    }
}

import Logging
import ServiceLifecycle

/// Watches the file of the brake, and takes the lockouts out of answers while it is there.
///
/// It asks for the file again and again, because a mounted file announces no changes.
struct BrakeService: Service {
    let file: BrakeFile
    let policy: LivePolicy
    let logger: Logger
    var interval: Duration = .milliseconds(250)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: interval)) != nil { look() }
        }
    }

    /// Looks once. Where the system does not say whether the file is there, the brake stays as it is.
    func look() {
        let before = policy.status
        switch file.state {
        case .absent:
            guard policy.noteBrake(nil) else { break }
            logger.notice("The brake is off: lockouts are sent again", metadata: ["brake.file": "\(file.path)"])
        case .present(let why):
            guard policy.noteBrake(PolicyStatus.Brake(file: file, why: why)) else { break }
            logger.warning(
                "The brake is on: lockouts are sent as plain messages",
                metadata: ["brake.file": "\(file.path)", "brake.why": "\(why)"]
            )
        case .unknown(let fault):
            let reason = "\(file.path) cannot be looked at, so the brake stays as it is: \(fault)"
            policy.noteBrake(fault: reason)
            guard before.brakeFault != reason else { break }
            logger.error("The file of the brake cannot be looked at", metadata: ["error": "\(reason)"])
        }
    }
}

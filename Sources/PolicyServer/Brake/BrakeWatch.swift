import Logging

/// Watches the file of the brake, and takes the lockouts out of answers while it is there.
struct BrakeWatch: Sendable {
    let file: BrakeFile
    let policy: LivePolicy
    let logger: Logger

    /// Looks until the task is cancelled, again and again, because a mounted file announces no changes.
    func run() async {
        while (try? await Task.sleep(for: .milliseconds(250))) != nil { look() }
    }

    /// Looks once. Where the system does not say whether the file is there, the brake stays as it is.
    func look() {
        let state = file.state
        let before = policy.status
        switch state {
        case .absent: policy.update { ($0.brake, $0.brakeFault) = (nil, nil) }
        case .present(let why):
            policy.update { ($0.brake, $0.brakeFault) = (PolicyStatus.Brake(file: file, why: why), nil) }
        case .unknown(let fault):
            let reason = "\(file.path) cannot be looked at, so the brake stays as it is: \(fault)"
            policy.update { $0.brakeFault = reason }
            guard before.brakeFault != reason else { return }
            logger.error("The file of the brake cannot be looked at", metadata: ["error": "\(reason)"])
        }
        let brake = policy.status.brake
        guard brake != before.brake else { return }
        if let brake {
            logger.warning(
                "The brake is on: lockouts are sent as plain messages",
                metadata: ["brake.file": "\(file.path)", "brake.why": "\(brake.why)"]
            )
        } else {
            logger.notice("The brake is off: lockouts are sent again", metadata: ["brake.file": "\(file.path)"])
        }
    }
}

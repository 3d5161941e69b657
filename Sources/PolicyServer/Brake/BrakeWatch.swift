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
        let before = policy.status
        var (brake, fault) = (before.brake, String?.none)
        switch file.state {
        case .absent: brake = nil
        case .present(let why): brake = PolicyStatus.Brake(file: file, why: why)
        case .unknown(let reason):
            fault = "\(file.path) cannot be looked at, so the brake stays as it is: \(reason)"
        }
        policy.update { ($0.brake, $0.brakeFault) = (brake, fault) }
        if let fault, fault != before.brakeFault {
            logger.error("The file of the brake cannot be looked at", metadata: ["error": "\(fault)"])
        }
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

import CheckListener
import Logging
import PolicyStore

/// Ends the trial of a policy once it has answered for a while, and keeps it as the one to fall back on.
struct PolicyTrialService: Sendable {
    let trial: PolicyTrial
    let file: LastGoodPolicyFile
    let policy: LivePolicy
    let statistics: ListenerStatistics
    let logger: Logger
    /// By so much notes are older than the end of a server.
    var interval: Duration = .milliseconds(200)

    /// Looks until the task is cancelled.
    func run() async {
        // It may be on disk only later.
        var unkept: PolicyVersion?
        while (try? await Task.sleep(for: interval)) != nil {
            if let passed = trial.look(at: .now, answered: statistics.answeredRequests) {
                // Those of a policy that this one is in place of.
                if policy.status.source == .database { trial.forgetDeaths() }
                unkept = passed
            }
            if let version = unkept, await isKept(version) { unkept = nil }
        }
    }

    /// Keeps a policy as one to fall back on; true where there is nothing left to do.
    private func isKept(_ version: PolicyVersion) async -> Bool {
        guard policy.status.source == .database, policy.current?.version == version else { return true }
        do {
            return try await LowPriorityThread.run { try file.keepAsPassed(version) }
        } catch {
            logger.warning(
                "The policy cannot be kept as one to fall back on",
                metadata: ["error": "\(error)", "policy.revision": "\(version.revision)"]
            )
            return true
        }
    }
}

extension ListenerStatistics {
    /// How many requests were answered on routes that a policy answers.
    var answeredRequests: Int {
        requests.reduce(0) { $1.key.route == .other ? $0 : $0 + Int(clamping: $1.value.count) }
    }
}

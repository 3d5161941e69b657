// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import Logging
import PolicyStore
import ServiceLifecycle

/// Ends the trial of a policy once it has answered for a while, and keeps it as the one to fall back on.
struct PolicyTrialService: Service {
    let trial: PolicyTrial
    let file: LastGoodPolicyFile
    let policy: LivePolicy
    let statistics: ListenerStatistics
    let logger: Logger
    var interval: Duration = .milliseconds(500)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: interval)) != nil {
                guard let passed = trial.look(at: .now, answered: statistics.answeredRequests) else { continue }
                await keep(passed)
            }
        }
        trial.stop()
    }

    private func keep(_ version: PolicyVersion) async {
        guard policy.status.source == .database else { return }
        // Those of a policy that this one is in place of.
        trial.forgetDeaths()
        do {
            try await LowPriorityThread.run { try file.keepAsPassed(version) }
        } catch {
            logger.warning(
                "The policy cannot be kept as one to fall back on",
                metadata: ["error": "\(error)", "policy.revision": "\(version.revision)"]
            )
        }
    }
}

extension ListenerStatistics {
    /// How many requests were answered on routes that a policy answers.
    var answeredRequests: Int {
        requests.reduce(0) { $1.key.route == .other ? $0 : $0 + Int(clamping: $1.value.count) }
    }
}

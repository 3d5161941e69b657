// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1

/// What one event loop counts of its connections; no other one writes here, so that counting does not wait.
final class LoopStatistics: Sendable {
    let refusals = CounterSet<RefusalReason>()
    let problems = CounterSet<ProblemStatus>()
    let requests = RequestRecorder()

    /// Counts a problem document, and the refusal that its status stands for.
    func count(_ response: HTTPResponseStatus) {
        guard let status = ProblemStatus(response) else { return }
        problems.increment(status)
        if let reason = RefusalReason(status: status) {
            refusals.increment(reason)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Dispatch

/// The thread of one connection: a dispatch queue on which its actor runs, so that libpq may block there without
/// taking a thread from Swift's shared pool.
final class PostgresExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "versiongate.postgres")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}

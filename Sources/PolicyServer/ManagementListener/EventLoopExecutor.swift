// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore

/// Runs tasks on the thread of an event loop, where they find their connections without waking another thread.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

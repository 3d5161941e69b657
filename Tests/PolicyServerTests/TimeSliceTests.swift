// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CSched
import Glibc
import NIOCore
import NIOPosix
import TestSystem
import Testing

@testable import PolicyServer

@Suite("Time slice")
struct TimeSliceTests {
    @Test(
        "Event loops have short time slices, and the priority that they had",
        .enabled(if: Kernel.givesTimeSlices, "Linux 6.12")
    )
    func isShort() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let thread = Int32(PRIO_PROCESS.rawValue)
        let usual = getpriority(thread, 0)
        TimeSlice.shorten(of: group)
        for eventLoop in group.makeIterator() {
            let (slice, niceness) = try await eventLoop.submit { (vg_slice(0), getpriority(thread, 0)) }.get()
            #expect(slice == TimeSlice.nanoseconds)
            #expect(niceness == usual)
        }
        try await group.shutdownGracefully()
    }
}

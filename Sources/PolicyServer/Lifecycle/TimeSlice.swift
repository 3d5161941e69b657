// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CSched
import Glibc
import NIOCore

/// The time slices of event loops.
///
/// Linux leaves a thread its processor for the rest of its slice, up to 4 ms, before one that wakes. Since Linux 6.12 one
/// that wakes and asks for shorter slices need not wait. An event loop takes less than the shortest slice for a check, so
/// it loses nothing by that, and no long work in this process delays a check.
enum TimeSlice {
    /// The shortest slice that the kernel gives.
    static let nanoseconds: UInt64 = 100_000

    /// Asks for short slices for the threads of event loops. Older kernels do not mind; where it is forbidden, the slices
    /// stay as they are.
    static func shorten(of group: any EventLoopGroup) {
        for eventLoop in group.makeIterator() {
            // The priority stays. To the kernel 0 is the calling thread.
            eventLoop.execute { _ = vg_set_slice(nanoseconds, getpriority(Int32(PRIO_PROCESS.rawValue), 0)) }
        }
    }
}

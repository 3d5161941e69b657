// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// How urgently the system runs a thread.
enum ThreadPriority {
    /// Lets the other threads of the machine go first for as long as the calling thread lives.
    ///
    /// On Linux a thread is what setpriority calls a process, and 0 is the calling one. Elsewhere nothing happens.
    static func lower() {
        #if os(Linux)
            let process = 0  // PRIO_PROCESS, which the C libraries declare with different types
            _ = setpriority(.init(process), 0, 10)
        #endif
    }
}

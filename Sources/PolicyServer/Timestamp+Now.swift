// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
public import UpdatePolicy

extension Timestamp {
    /// What the system's clock says.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microsecondsSince1970: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }
}

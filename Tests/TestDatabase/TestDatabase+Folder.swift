// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc

extension TestDatabase {
    /// The path of a folder that does not exist yet, in the system's temporary folder.
    public static func freshFolder() -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        return "\(parent)/versiongate-test-\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import FoundationEssentials
public import UpdatePolicy

extension Timestamp {
    /// What the system's clock says.
    public static func now() -> Timestamp {
        Timestamp(microsecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Duration {
    /// Whole milliseconds, rounded up, at most what 32 bits hold.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return Int64(Int32.max) }
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

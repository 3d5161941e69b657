// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A run of elements in an array that many rules or releases share.
struct PoolRange: Sendable {
    var start: UInt32 = 0
    var count: UInt32 = 0

    static let empty = PoolRange()

    @inline(__always)
    var isEmpty: Bool { count == 0 }

    @inline(__always)
    var indices: Range<Int> { Int(start)..<Int(start &+ count) }
}

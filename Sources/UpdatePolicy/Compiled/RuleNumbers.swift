// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A list of the numbers of rules that needs no memory of its own while it is short.
struct RuleNumbers {
    private typealias Inline = (
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
    )

    private static let inlineCapacity = MemoryLayout<Inline>.size / MemoryLayout<UInt32>.size

    private(set) var count = 0
    private var inline: Inline = (0, 0, 0, 0, 0, 0, 0, 0)
    private var overflow: [UInt32] = []

    @inline(__always)
    subscript(index: Int) -> UInt32 {
        if index >= Self.inlineCapacity { return overflow[index &- Self.inlineCapacity] }
        return withUnsafeBytes(of: inline) { $0.load(fromByteOffset: index &* 4, as: UInt32.self) }
    }

    @inline(__always)
    mutating func append(_ number: UInt32) {
        if count < Self.inlineCapacity {
            let offset = count &* 4
            withUnsafeMutableBytes(of: &inline) { $0.storeBytes(of: number, toByteOffset: offset, as: UInt32.self) }
        } else {
            overflow.append(number)
        }
        count &+= 1
    }
}

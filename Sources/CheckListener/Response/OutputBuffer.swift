// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc

/// The bytes of the responses that one event loop writes in a batch, one after the other, in memory that is used again.
struct OutputBuffer: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: initialCapacity, alignment: 16)
    /// How many bytes were written.
    private(set) var count = 0

    private static let initialCapacity = 65_536
    /// The most memory that is kept for the next batch, in bytes.
    private static let keptCapacity = 1 << 20

    deinit {
        memory.deallocate()
    }

    /// The bytes in a range, which stay where they are until more is written.
    subscript(range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[range])
    }

    /// Forgets all bytes.
    mutating func clear() {
        count = 0
        if memory.count > Self.keptCapacity {
            memory.deallocate()
            memory = .allocate(byteCount: Self.initialCapacity, alignment: 16)
        }
    }

    @inline(__always)
    private mutating func reserve(_ byteCount: Int) {
        if memory.count &- count < byteCount { grow(byteCount) }
    }

    @inline(never)
    private mutating func grow(_ byteCount: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * memory.count, count + byteCount),
            alignment: 16
        )
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }

    /// Appends bytes.
    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        if memory.count &- count < bytes.count {
            grow(bytes.count)
            return append(bytes)
        }
        memcpy(target + count, source, bytes.count)
        count &+= bytes.count
    }

    /// Appends bytes.
    @inline(__always)
    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends a literal.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the UTF-8 bytes of a text.
    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a number that is not negative in decimal digits.
    mutating func append(decimal number: Int) {
        reserve(20)
        var divisor = 1
        while number / divisor >= 10 { divisor &*= 10 }
        while divisor > 0 {
            memory[count] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / divisor % 10)
            count &+= 1
            divisor /= 10
        }
    }
}

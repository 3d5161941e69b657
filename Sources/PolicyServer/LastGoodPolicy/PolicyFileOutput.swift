// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Crypto
import Foundation
import SystemPackage

/// The bytes of a policy file on their way to the disk, and their checksum.
struct PolicyFileOutput {
    private static let chunk = 1 << 20

    private let target: FileDescriptor
    private var pending = Data()
    private var checksum = SHA256()
    /// How many bytes there are so far.
    private(set) var position: Int64 = 0

    init(_ target: FileDescriptor) {
        self.target = target
    }

    /// Appends a line and its end.
    mutating func append(line: Data) throws {
        pending.append(line)
        pending.append(UInt8(ascii: "\n"))
        position += Int64(line.count) + 1
        if pending.count >= Self.chunk { try flush() }
    }

    /// Appends some bytes of another file.
    mutating func copy(_ range: Range<Int64>, of source: FileDescriptor) throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(range.upperBound - offset, Int64(Self.chunk)))
            var part = Data(count: count)
            let read = try part.withUnsafeMutableBytes { try source.read(fromAbsoluteOffset: offset, into: $0) }
            guard read > 0 else { throw Errno.ioError }
            pending.append(part.prefix(read))
            offset += Int64(read)
            if pending.count >= Self.chunk { try flush() }
        }
        position += Int64(range.count)
    }

    /// Appends the checksum and writes what is left.
    mutating func finish() throws {
        try flush()
        pending = Data((PolicyFile.checksumName + checksum.finalize().hexadecimal + "\n").utf8)
        _ = try target.writeAll(pending)
    }

    private mutating func flush() throws {
        checksum.update(data: pending)
        _ = try target.writeAll(pending)
        pending.removeAll(keepingCapacity: true)
    }
}

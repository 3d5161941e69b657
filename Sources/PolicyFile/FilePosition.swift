// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A place in a text file.
public struct FilePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1 in Unicode scalars.
    public let column: Int

    /// A place by its line and column, both counted from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Where a file begins.
    static let start = FilePosition(line: 1, column: 1)

    /// The place of the byte at an offset.
    init(offset: Int, in bytes: [UInt8]) {
        let head = bytes.prefix(max(0, offset))
        let lineStart = head.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        line = 1 + head.count { $0 == UInt8(ascii: "\n") }
        // Every scalar has one byte that is not a continuation of another.
        column = 1 + head[lineStart...].count { $0 & 0xC0 != 0x80 }
    }

    /// `LINE:COLUMN`.
    public var description: String { "\(line):\(column)" }

    /// Whether one place comes before the other.
    public static func < (left: FilePosition, right: FilePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

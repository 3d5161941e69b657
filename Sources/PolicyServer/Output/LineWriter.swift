/// Writes whole lines to an output that may take some or none of their bytes, and reports how many lines are missing.
struct LineWriter {
    /// How many lines are missing in the output and were not reported yet.
    var missing = 0
    /// Whether the output ends within a line, because the rest of it was not taken.
    private var endsWithinLine = false

    private let gapNotice: @Sendable (Int) -> String
    private let writeSome: @Sendable (UnsafeRawBufferPointer) -> Int?

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - gapNotice: The line that reports the number of missing lines.
    ///   - write: Writes some of the bytes; the number of those written, nil when none can be.
    init(
        gapNotice: @escaping @Sendable (Int) -> String,
        write: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?
    ) {
        self.gapNotice = gapNotice
        writeSome = write
    }

    /// Writes a line, after one that says what is missing before it.
    ///
    /// - Returns: Whether the whole line was written; if not it is missing too.
    mutating func write(_ line: [UInt8]) -> Bool {
        reportMissing()
        let isWritten = missing == 0 && writeAll(line)
        if !isWritten { missing += 1 }
        return isWritten
    }

    /// Writes how many lines are missing, if any; they stay missing when that cannot be written either.
    mutating func reportMissing() {
        guard missing > 0, writeAll(Array(gapNotice(missing).utf8) + [UInt8(ascii: "\n")]) else { return }
        missing = 0
    }

    private mutating func writeAll(_ line: [UInt8]) -> Bool {
        let bytes = endsWithinLine ? [UInt8(ascii: "\n")] + line : line
        return bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                guard let count = writeSome(UnsafeRawBufferPointer(rebasing: bytes[written...])) else { break }
                written += count
            }
            if written > 0 { endsWithinLine = bytes[written - 1] != UInt8(ascii: "\n") }
            return written == bytes.count
        }
    }
}

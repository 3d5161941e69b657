import Glibc
import Synchronization

/// Lines for standard output or standard error.
///
/// The caller never waits for the reader: what the descriptor does not take at once is dropped and counted. The next line
/// that can be written is preceded by one that says how many are missing. The buffer of a pipe holds what the reader has
/// not read yet.
package final class LineOutput: Sendable {
    private struct State {
        /// How many lines are missing in the output and were not reported yet.
        var missing = 0
        /// How many lines were dropped since the start.
        var dropped = 0
        /// Whether the output ends within a line, because the rest of it was not taken.
        var endsWithinLine = false
    }

    private let state = Mutex(State())
    private let descriptor: Int32
    private let isOwn: Bool
    private let gapNotice: @Sendable (Int) -> String

    /// - Parameters:
    ///   - descriptor: Where the lines go. It may block or not.
    ///   - gapNotice: The line that reports the number of missing lines.
    package init(descriptor: Int32, gapNotice: @escaping @Sendable (Int) -> String) {
        // A terminal, or a pipe that others write to as well, may have less room than `poll` says. So the same file is opened
        // once more, not to block; the descriptor of others stays as it is. A socket cannot be, and need not.
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        (self.descriptor, isOwn) = own < 0 ? (descriptor, false) : (own, true)
        self.gapNotice = gapNotice
    }

    deinit { if isOwn { close(descriptor) } }

    /// How many lines were dropped since the start.
    var droppedCount: Int { state.withLock { $0.dropped } }

    /// Writes a line, or drops it; never waits.
    package func print(_ line: String) {
        state.withLock { state in
            if state.missing > 0, write(gapNotice(state.missing), &state) { state.missing = 0 }
            guard state.missing > 0 || !write(line, &state) else { return }
            state.missing += 1
            state.dropped += 1
        }
    }

    /// Reports lines that are missing at the end.
    package func finish() {
        state.withLock { state in
            if state.missing > 0, write(gapNotice(state.missing), &state) { state.missing = 0 }
        }
    }

    private func write(_ line: String, _ state: inout State) -> Bool {
        let bytes = Array("\(state.endsWithinLine ? "\n" : "")\(line)\n".utf8)
        let count = DescriptorWriter.write(bytes, to: descriptor, waiting: false)
        if count > 0 { state.endsWithinLine = count < bytes.count }
        return count == bytes.count
    }
}

/// Writes to a file descriptor that may be full, closed, non-blocking, or without a reader.
package enum DescriptorWriter {
    /// The most that a pipe that can be written takes without waiting (PIPE_BUF).
    private static let piece = 4096

    /// Writes bytes as far as the descriptor takes them: no space, no reader and no such descriptor end it.
    ///
    /// - Parameter isWaiting: Whether to wait where it takes none at the moment.
    /// - Returns: How many bytes were written.
    static func write(_ bytes: [UInt8], to descriptor: Int32, waiting isWaiting: Bool) -> Int {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let ready = poll(&entry, 1, isWaiting ? -1 : 0)
                if ready < 0, errno == EINTR { continue }
                guard ready > 0, entry.revents & Int16(POLLOUT) != 0 else { break }
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...].prefix(piece))
                let flags = Int32(MSG_NOSIGNAL) | (isWaiting ? 0 : Int32(MSG_DONTWAIT))
                var count = send(descriptor, rest.baseAddress, rest.count, flags)
                if count < 0, errno == ENOTSOCK { count = Glibc.write(descriptor, rest.baseAddress, rest.count) }
                if count < 0, errno == EINTR || isWaiting && errno == EAGAIN { continue }
                guard count > 0 else { break }
                written += count
            }
            return written
        }
    }

    /// Writes all of a text as far as the descriptor takes it, and waits for a reader that is slow; what it does not take
    /// is lost.
    package static func write(_ text: String, to descriptor: Int32) {
        _ = write(Array(text.utf8), to: descriptor, waiting: true)
    }
}

import Foundation
import Synchronization

/// Lines for standard output or standard error, which a thread of its own writes.
///
/// The caller never waits for the reader: ``print(_:)`` puts the line into a queue of bounded size and returns. A
/// line that finds the queue full, or that the system does not take (no space, no reader, a closed descriptor), is
/// dropped and counted. The next line that can be written is preceded by one that says how many are missing.
package final class OutputQueue: Sendable {
    private enum Entry {
        /// A line, and how many lines were dropped for want of room just before it.
        case line([UInt8], droppedBefore: Int)
        /// Signalled when everything before it has been written or dropped.
        case flush(DispatchSemaphore)
    }

    private struct State {
        var entries: [Entry] = []
        /// The size of the lines that are queued or being written.
        var size = 0
        /// How many lines were dropped for want of room since the last one that found some.
        var droppedForRoom = 0
        /// How many lines were dropped since the start.
        var dropped = 0
    }

    private let state = Mutex(State())
    private let wakeup = DispatchSemaphore(value: 0)
    private let capacity: Int

    /// Creates a queue and starts its thread, which lives as long as the process.
    ///
    /// - Parameters:
    ///   - descriptor: Where the lines go. It may block or not.
    ///   - capacity: The size in bytes of the lines that may wait.
    ///   - retryInterval: How often to try to say that lines are missing, when no line comes.
    ///   - gapNotice: The line that reports the number of missing lines.
    package convenience init(
        descriptor: Int32,
        capacity: Int = 1 << 20,
        retryInterval: Duration = .seconds(10),
        gapNotice: @escaping @Sendable (Int) -> String
    ) {
        self.init(
            capacity: capacity, retryInterval: retryInterval, gapNotice: gapNotice,
            write: { DescriptorWriter.write($0, to: descriptor) }
        )
    }

    /// Creates a queue.
    ///
    /// - Parameter write: Writes some of the bytes; the number of those written, nil when none can be.
    init(
        capacity: Int,
        retryInterval: Duration,
        gapNotice: @escaping @Sendable (Int) -> String,
        write: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?
    ) {
        self.capacity = capacity
        let thread = Thread { [self] in
            var writer = LineWriter(gapNotice: gapNotice, write: write)
            while true { work(&writer, retryInterval) }
        }
        thread.name = "output"
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// How many lines were dropped since the start.
    var droppedCount: Int { state.withLock { $0.dropped } }

    /// Puts a line into the queue, or drops it; never waits.
    ///
    /// - Parameter line: The line without its end.
    package func print(_ line: String) {
        let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
        state.withLock { state in
            guard state.size + bytes.count <= capacity else {
                state.droppedForRoom += 1
                state.dropped += 1
                return
            }
            state.size += bytes.count
            state.entries.append(.line(bytes, droppedBefore: state.droppedForRoom))
            state.droppedForRoom = 0
        }
        wakeup.signal()
    }

    /// Waits until all lines so far have been written or dropped, but no longer than `limit`.
    ///
    /// - Returns: Whether they have.
    @discardableResult
    package func flush(within limit: Duration) -> Bool {
        let done = DispatchSemaphore(value: 0)
        state.withLock { $0.entries.append(.flush(done)) }
        wakeup.signal()
        return done.wait(timeout: .now() + limit / .seconds(1)) == .success
    }

    /// Waits for entries and writes them; on the thread of the queue.
    private func work(_ writer: inout LineWriter, _ retryInterval: Duration) {
        if writer.missing > 0 {
            _ = wakeup.wait(timeout: .now() + retryInterval / .seconds(1))
        } else {
            wakeup.wait()
        }
        let entries = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
        for entry in entries {
            switch entry {
            case .line(let bytes, let droppedBefore):
                writer.missing += droppedBefore
                let isWritten = writer.write(bytes)
                state.withLock { state in
                    state.size -= bytes.count
                    if !isWritten { state.dropped += 1 }
                }
            case .flush(let done):
                writer.missing += takeDroppedForRoom()
                writer.reportMissing()
                done.signal()
            }
        }
        writer.missing += takeDroppedForRoom()
        writer.reportMissing()
    }

    /// The lines that were dropped behind the last one that is queued; none while another is queued.
    private func takeDroppedForRoom() -> Int {
        state.withLock { state in
            guard state.entries.isEmpty else { return 0 }
            defer { state.droppedForRoom = 0 }
            return state.droppedForRoom
        }
    }
}

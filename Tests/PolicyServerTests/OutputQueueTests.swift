import Foundation
import Synchronization
import Testing

@testable import PolicyServer

@Suite("Output queue")
struct OutputQueueTests {
    /// A pipe whose ends a test closes by itself.
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() {
            signal(SIGPIPE, SIG_IGN)
            var descriptors: [Int32] = [0, 0]
            precondition(pipe(&descriptors) == 0)
            (reading, writing) = (descriptors[0], descriptors[1])
        }

        /// The lines up to one of them.
        func lines(upTo last: String) -> [String] {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while !text.hasSuffix("\(last)\n") {
                let count = read(reading, &buffer, buffer.count)
                guard count > 0 else { break }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return text.split(separator: "\n").map(String.init)
        }
    }

    /// A place to write to that a test fills and empties.
    private final class Disk: Sendable {
        private let state = Mutex((text: "", space: Int.max))

        var text: String { state.withLock { $0.text } }

        func setSpace(_ space: Int) { state.withLock { $0.space = space } }

        func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
            state.withLock { state in
                let count = min(bytes.count, state.space)
                guard count > 0 else { return nil }
                state.space -= count
                state.text += String(decoding: bytes[..<count], as: UTF8.self)
                return count
            }
        }
    }

    private static let longTime: Duration = .seconds(60)

    private static func queue(_ descriptor: Int32, capacity: Int = 1 << 20) -> OutputQueue {
        OutputQueue(descriptor: descriptor, capacity: capacity) { "missing \($0)" }
    }

    private static func queue(_ disk: Disk) -> OutputQueue {
        OutputQueue(
            capacity: 1 << 20, retryInterval: .milliseconds(1), gapNotice: { "missing \($0)" },
            write: { disk.write($0) }
        )
    }

    @Test("The queue never waits for a reader, drops what has no room, and says so in its place")
    func dropsWithoutAReader() {
        let pipe = Pipe()
        let queue = Self.queue(pipe.writing, capacity: 100_000)
        let count = 100_000
        for number in 1...count { queue.print("line \(number)") }
        #expect(queue.droppedCount > 0)
        #expect(!queue.flush(within: .milliseconds(1)), "nobody reads")
        // What is printed once there is room again tells the end of what is read.
        let end = Thread {
            while !queue.flush(within: Self.longTime) {}
            queue.print("the end")
        }
        end.start()
        var next = 1
        for line in pipe.lines(upTo: "the end") {
            let words = line.split(separator: " ")
            switch words[0] {
            case "line":
                #expect(Int(words[1]) == next)
                next += 1
            case "missing": next += Int(words[1]) ?? 0
            default: break
            }
        }
        #expect(next == count + 1, "each line is there or counted as missing")
    }

    @Test("The queue waits for room in a pipe that does not block")
    func writesWithoutBlocking() {
        let pipe = Pipe()
        _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
        let queue = Self.queue(pipe.writing, capacity: 1 << 24)
        for number in 1...50_000 { queue.print("line \(number)") }
        #expect(pipe.lines(upTo: "line 50000").count == 50_000)
        #expect(queue.droppedCount == 0)
    }

    @Test("The queue survives a full disk, a reader that is gone, and a closed descriptor")
    func survives() {
        let full = open("/dev/full", O_WRONLY)
        let pipe = Pipe()
        close(pipe.reading)
        // Far beyond what is open, so that no other test opens it meanwhile.
        let closed: Int32 = 1 << 20
        for descriptor in [full, pipe.writing, closed] {
            let queue = Self.queue(descriptor)
            for _ in 1...3 { queue.print("x") }
            #expect(queue.flush(within: Self.longTime))
            #expect(queue.droppedCount == 3)
        }
    }

    @Test("The queue goes on where the disk has space again, on a line of its own, and says how much is missing")
    func goesOn() {
        let disk = Disk()
        let queue = Self.queue(disk)
        queue.print("one")
        #expect(queue.flush(within: Self.longTime))
        disk.setSpace(2)
        queue.print("two")
        queue.print("three")
        #expect(queue.flush(within: Self.longTime))
        #expect(disk.text == "one\ntw")
        disk.setSpace(.max)
        queue.print("four")
        #expect(queue.flush(within: Self.longTime))
        #expect(disk.text == "one\ntw\nmissing 2\nfour\n")
        #expect(queue.droppedCount == 2)
    }

    @Test("The queue says what is missing also when nothing more is printed")
    func saysWhatIsMissing() {
        let disk = Disk()
        let queue = Self.queue(disk)
        disk.setSpace(0)
        queue.print("one")
        #expect(queue.flush(within: Self.longTime))
        #expect(disk.text.isEmpty)
        disk.setSpace(.max)
        // It tries again by itself; this only hands over the processor until it has.
        while disk.text.isEmpty { sched_yield() }
        #expect(disk.text == "missing 1\n")
    }
}

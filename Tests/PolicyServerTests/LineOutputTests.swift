import Foundation
import Testing

@testable import PolicyServer

@Suite("Line output")
struct LineOutputTests {
    /// A pipe whose ends a test closes by itself.
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() {
            signal(SIGPIPE, SIG_IGN)
            var descriptors: [Int32] = [0, 0]
            precondition(pipe(&descriptors) == 0)
            (reading, writing) = (descriptors[0], descriptors[1])
            _ = fcntl(reading, F_SETFL, O_NONBLOCK)
        }

        /// What has been written and not been read.
        func text() -> String {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(reading, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func output(_ descriptor: Int32) -> LineOutput {
        LineOutput(descriptor: descriptor) { "missing \($0)" }
    }

    @Test(
        "The output never waits for a reader, drops what has no room, and says so in its place, on lines of their own",
        arguments: [0, O_NONBLOCK], [1, 10, 5_000]
    )
    func dropsWithoutAReader(flags: Int32, length: Int) {
        let pipe = Pipe()
        _ = fcntl(pipe.writing, F_SETFL, flags)
        let output = Self.output(pipe.writing)
        let padding = String(repeating: "x", count: length)
        let count = 100_000
        for number in 1...count { output.print("line \(number) \(padding)") }
        let dropped = output.droppedCount
        #expect(dropped > 0)
        var text = pipe.text()
        output.print("the end")
        text += pipe.text()
        #expect(output.droppedCount == dropped)
        #expect(text.hasSuffix("missing \(dropped)\nthe end\n"))
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("line ") && $0.hasSuffix(" \(padding)") }
        #expect(lines.count == count - dropped)
        #expect(lines.map(String.init) == (1...lines.count).map { "line \($0) \(padding)" })
    }

    @Test("A terminal that nobody reads, and a pipe to which others write too, make no caller wait")
    func sharedAndSlow() {
        var (main, terminal): (Int32, Int32) = (0, 0)
        #expect(openpty(&main, &terminal, nil, nil, nil) == 0)
        let pipe = Pipe()
        let line = String(repeating: "x", count: 5_000)
        for descriptor in [terminal, pipe.writing] {
            let outputs = [Self.output(descriptor), Self.output(descriptor)]
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                for _ in 1...5_000 { outputs[index].print(line) }
            }
            #expect(outputs.allSatisfy { $0.droppedCount > 0 })
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0, "which whoever else writes to it would notice")
        }
    }

    @Test("The output says what is missing also when nothing more is printed")
    func saysWhatIsMissing() {
        let pipe = Pipe()
        let output = Self.output(pipe.writing)
        while output.droppedCount == 0 { output.print("line") }
        _ = pipe.text()
        output.finish()
        #expect(pipe.text().hasSuffix("missing 1\n"))
        output.finish()
        #expect(pipe.text().isEmpty)
    }

    @Test("The output survives a full disk, a reader that is gone, and a closed descriptor")
    func survives() {
        let full = open("/dev/full", O_WRONLY)
        let pipe = Pipe()
        close(pipe.reading)
        // Far beyond what is open, so that no other test opens it meanwhile.
        let closed: Int32 = 1 << 20
        for descriptor in [full, pipe.writing, closed] {
            let output = Self.output(descriptor)
            for _ in 1...3 { output.print("x") }
            #expect(output.droppedCount == 3)
        }
    }
}

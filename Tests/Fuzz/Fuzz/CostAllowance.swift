import CLibFuzzer

/// How much CPU time an input may take: eight times what the usual input takes, byte for byte, and as much for a short one.
struct CostAllowance {
    /// The most that an input may cost, in usual inputs of its size.
    static let maximumTimes = 8.0

    private let usualBytes: Int
    private let usualNanoseconds: Double

    /// Measures what reading the usual input takes.
    init(usualInput: [UInt8], read: () -> Void) {
        usualBytes = usualInput.count
        for _ in 0..<200 { read() }
        usualNanoseconds = Double(Self.least(of: 200, read))
    }

    /// What an input of a size may take.
    func nanoseconds(for bytes: Int) -> UInt64 {
        UInt64(Self.maximumTimes * usual(for: bytes))
    }

    /// How many usual inputs of its size an input cost.
    func times(_ nanoseconds: UInt64, for bytes: Int) -> Double {
        (Double(nanoseconds) / usual(for: bytes) * 10).rounded() / 10
    }

    private func usual(for bytes: Int) -> Double {
        usualNanoseconds * Double(max(bytes, usualBytes)) / Double(usualBytes)
    }

    /// The CPU time that a body takes on this thread, in nanoseconds.
    static func measure(_ body: () throws -> Void) rethrows -> UInt64 {
        let start = fuzz_thread_nanoseconds()
        try body()
        return fuzz_thread_nanoseconds() - start
    }

    /// The least CPU time that a body takes in several runs.
    static func least(of runs: Int, _ body: () -> Void) -> UInt64 {
        (0..<runs).reduce(UInt64.max) { least, _ in min(least, measure(body)) }
    }
}

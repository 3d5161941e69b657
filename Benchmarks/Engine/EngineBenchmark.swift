import Glibc
import UpdatePolicy

/// Measures the engine alone: what a check costs in policies of different sizes, and what compiling them costs.
///
/// Run it in release: `swift run -c release EngineBenchmark`. What counts are the ratios between the lines of one run.
@main
enum EngineBenchmark {
    /// The check that is asked: the payload of 2013.
    private static let members: [(UTF8Text, UTF8Text)] = [
        ("version", "1.1.0"), ("build", "42"), ("platform", "iOS"), ("region", "en_US"), ("bundle", "com.example.doto"),
        ("platformname", "iphoneos"),
    ]

    static func main() throws {
        print("reading the members of a check: \(Int(nanoseconds { _ = try? client() })) ns")
        print("policy                                   compiled in   memory   a check   of the first")
        var first: Double?
        for workload in Workload.all {
            let memoryBefore = residentMegabytes()
            let policy = workload.policy()
            let start = monotonicNanoseconds()
            let compiled = try CompiledPolicy(policy)
            let compileTime = monotonicNanoseconds() - start
            let memory = residentMegabytes() - memoryBefore
            let client = try client()
            let time = Timestamp(secondsSince1970: 1_772_366_400)
            var answer = Answer()
            let cost = nanoseconds {
                compiled.writeAnswer(for: client, at: time, shape: .standard, to: &answer)
            }
            if first == nil { first = cost }
            print(
                column(workload.name, 41), column("\(Int(compileTime / 1e6)) ms", 13), column("\(memory) MB", 8),
                column("\(Int(cost)) ns", 9), "\((cost / (first ?? cost) * 100).rounded() / 100)"
            )
        }
    }

    private static func client() throws -> Client {
        var client = Client()
        for (name, value) in members {
            try client.set(name, to: .text(value))
        }
        try client.validate()
        return client
    }

    /// The time that `body` takes: of several series the quickest, which other work on the machine disturbed least.
    private static func nanoseconds(_ body: () -> Void) -> Double {
        let loops = 50_000
        return (0..<7).map { _ in
            let start = monotonicNanoseconds()
            for _ in 0..<loops { body() }
            return (monotonicNanoseconds() - start) / Double(loops)
        }.min() ?? 0
    }

    private static func monotonicNanoseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// The memory of this process that is in use, by the kernel's account.
    private static func residentMegabytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var total = 0
        var resident = 0
        withUnsafeMutablePointer(to: &total) { total in
            withUnsafeMutablePointer(to: &resident) { resident in
                _ = withVaList([total, resident]) { vfscanf(file, "%ld %ld", $0) }
            }
        }
        return resident * Int(getpagesize()) / 1_000_000
    }

    private static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }
}

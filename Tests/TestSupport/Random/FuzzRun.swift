import Foundation
import Testing

/// A fuzz test: input that is made at random goes through some code for a while.
///
/// `VERSIONGATE_FUZZ_SECONDS` says for how long (default 0.2), `VERSIONGATE_SEED` repeats the run that printed it.
public enum FuzzRun {
    /// How long each test goes on.
    public static let duration: Duration = .seconds(
        ProcessInfo.processInfo.environment["VERSIONGATE_FUZZ_SECONDS"].flatMap(Double.init) ?? 0.2
    )

    /// Gives one input after the other to `body`, which tells whether it was accepted; both must happen, however slow the
    /// machine is.
    public static func run(_ what: String, _ body: (inout SeededGenerator) throws -> Bool) throws {
        var random = SeededGenerator()
        let seed = random.seed
        var (accepted, refused) = (0, 0)
        let memory = residentBytes()
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end || min(accepted, refused) == 0 && accepted + refused < 1_000 {
            do {
                if try body(&random) { accepted += 1 } else { refused += 1 }
            } catch {
                print("fuzz: \(what): VERSIONGATE_SEED=\(seed) repeats the fault")
                throw error
            }
        }
        print("fuzz: \(what): \(accepted) accepted, \(refused) refused; seed \(seed)")
        #expect(accepted > 0 && refused > 0, "the input is neither all good nor all bad; seed \(seed)")
        judgeMemory(since: memory)
    }

    /// In a run of half a minute and more, what is in use at the end is what was in use at the beginning, give or take
    /// 64 MiB.
    public static func judgeMemory(since before: Int) {
        guard duration >= .seconds(30) else { return }
        let growth = residentBytes() - before
        print("fuzz: memory grew by \(growth / 1024) KiB")
        #expect(growth < 64 << 20)
    }

    /// The memory of this process that is in use, in bytes; 0 where the system does not say.
    public static func residentBytes() -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return kilobytes * 1024
    }
}

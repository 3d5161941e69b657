import Foundation
import Testing

@testable import VersionGateClient

/// Random installations, networks and people over 90 days, beside a judge that knows nothing of the library.
///
/// `VERSIONGATE_STARTS` says how many starts of apps there are (20,000), `VERSIONGATE_SEED` repeats a run.
@Suite("Simulation")
struct SimulationTests {
    @Test("No message is shown too often, too soon or after it was skipped; none is missing; each lockout holds")
    func judged() async throws {
        let environment = ProcessInfo.processInfo.environment
        let starts = environment["VERSIONGATE_STARTS"].flatMap { Int($0) } ?? 20_000
        let seed = SeededGenerator.forTest().seed
        print("simulation: VERSIONGATE_SEED=\(seed)")
        var counts = SimulatedDevice.Counts()
        let begin = Date()
        var installation: UInt64 = 0
        while counts.starts < starts {
            // Each installation has random numbers of its own.
            var generator = SeededGenerator(seed: seed &+ installation)
            let device = SimulatedDevice(random: SeededGenerator(seed: generator.next()))
            try await device.live()
            if let fault = device.fault {
                Issue.record("VERSIONGATE_SEED=\(seed), installation \(installation), start \(device.starts): \(fault)")
                return
            }
            counts.add(device.counts)
            installation += 1
        }
        print("simulation: \(installation) installations, \(counts), \(Int(Date().timeIntervalSince(begin))) s")
        // All of it has happened, so all of it was judged.
        guard starts >= 20_000 else { return }
        for (what, count) in counts.all { #expect(count > 0, "\(what); VERSIONGATE_SEED=\(seed)") }
    }
}

import Foundation
import Testing

@testable import PolicyServer

@Suite("Signals")
struct ProcessSignalsTests {
    @Test("The process ends where it does not end by itself")
    func endsWhatHangs() async {
        await #expect(processExitsWith: .exitCode(1)) {
            let lastResort = LastResort(within: .zero)
            ProcessSignals.trap(SIGTERM) { lastResort.begin() }
            for _ in 1...20 { kill(getpid(), SIGTERM) }
            DispatchSemaphore(value: 0).wait()
        }
    }

    @Test("A signal never ends the process, and is told each time", arguments: [SIGHUP, SIGTERM, SIGINT])
    func areTold(number: Int32) async {
        await #expect(processExitsWith: .exitCode(8)) { [number] in
            let told = DispatchSemaphore(value: 0)
            ProcessSignals.trap(number) { exit(1) }
            ProcessSignals.trap(number) { told.signal() }
            for _ in 1...3 {
                kill(getpid(), number)
                told.wait()
            }
            exit(8)
        }
    }
}

import Foundation
import Testing

@testable import PolicyServer

@Suite("Termination signals")
struct TerminationSignalsTests {
    @Test("The signals end the process where it does not end by itself, also when signals come again")
    func endsWhatHangs() async {
        await #expect(processExitsWith: .exitCode(TerminationSignals.statusOfLastResort)) {
            TerminationSignals.prepare(endingWithin: .milliseconds(100))
            TerminationSignals.trap {}
            for _ in 1...20 { kill(getpid(), SIGTERM) }
            DispatchSemaphore(value: 0).wait()
        }
    }

    @Test("SIGHUP never ends the process, and is told each time")
    func reloads() async {
        await #expect(processExitsWith: .exitCode(8)) {
            let told = DispatchSemaphore(value: 0)
            ReloadSignal.trap { exit(1) }
            ReloadSignal.trap { told.signal() }
            for _ in 1...3 {
                kill(getpid(), SIGHUP)
                told.wait()
            }
            exit(8)
        }
    }

    @Test("The signals are told to the server", arguments: [SIGTERM, SIGINT])
    func areTold(number: Int32) async {
        await #expect(processExitsWith: .exitCode(7)) { [number] in
            TerminationSignals.prepare(endingWithin: .seconds(60))
            TerminationSignals.trap { exit(7) }
            kill(getpid(), number)
            DispatchSemaphore(value: 0).wait()
        }
    }
}

import Foundation
import Testing

@testable import Postgres

@Suite("Wakeups")
struct WakeupTests {
    /// What an open file is: for a pipe a number that no other pipe has.
    private func target(ofFile number: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    }

    @Test("The pipe of a connection is closed with it, at both ends")
    func closesThePipe() throws {
        func pipe() throws -> String {
            let wakeup = try Wakeup()
            return try withExtendedLifetime(wakeup) { try target(ofFile: "\(wakeup.readEnd)") }
        }
        let pipe = try pipe()
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").map { try? target(ofFile: $0) }
        #expect(pipe.hasPrefix("pipe:") && !open.contains(pipe))
    }
}

import Foundation
import TestRandom
import Testing

@Suite("Seeds")
struct SeededGeneratorTests {
    @Test("A random test begins where VERSIONGATE_SEED says, else all of a run where one number says, which is printed")
    func seed() {
        #expect(SeededGenerator().seed == SeededGenerator().seed)
        let given = ProcessInfo.processInfo.environment["VERSIONGATE_SEED"].flatMap { UInt64($0) }
        #expect(given == nil || SeededGenerator().seed == given)
    }
}

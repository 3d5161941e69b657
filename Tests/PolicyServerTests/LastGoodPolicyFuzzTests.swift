import Foundation
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Last good policy fuzzing", .serialized)
struct LastGoodPolicyFuzzTests {
    private let folder = TestFolder()

    @Test(
        "Random and mutated input as a policy on disk, its checksum right, answers checks or is refused with a reason"
    )
    func readsPoliciesOnDisk() throws {
        let file = LastGoodPolicyFile(stateDirectory: folder.path)
        var writer = LastGoodPolicyFileWriter(file)
        try writer.write(try CompiledPolicy(LastGoodPolicyFileTests.policy(7, ["a", "{app}", "c"])))
        let written = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let content = Array(written[..<(written.dropLast().lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)])
        let mutator = Mutator(words: [
            "null", "true", "[]", "{}", "\"\"", "-1", "1e999", "9223372036854775807", "-9223372036854775808", "\\u0000",
            "\"com.example.app0\"", "\"rule0\"", "\"*\"", "<1.2 ||", "10001", "\n", ",", ":",
        ])
        try FuzzRun.run("policies on disk") { random in
            var changed = content
            mutator.mutate(&changed, &random)
            let checksum = LastGoodPolicyFile.checksumName + SHA256.hash(data: changed).hexadecimal
            let policy: CompiledPolicy
            do {
                policy = try CompiledPolicy(file.policy(in: Data(changed + Array("\(checksum)\n".utf8))))
            } catch {
                try #require(!"\(error)".isEmpty)
                return false
            }
            for number in 0...3 {
                var client = Client()
                try client.set("bundle", to: .text(UTF8Text("com.example.app\(number)")))
                try client.set("version", to: .text("1.1"))
                try client.set("platform", to: .text("ios"))
                try client.set("os", to: .text("17"))
                try client.set("install", to: .text("an install"))
                let answer = policy.answer(to: client, at: Timestamp(microsecondsSince1970: 1_772_366_400_000_000))
                _ = try JSONSerialization.jsonObject(with: Data(answer.body))
            }
            return true
        }
    }
}

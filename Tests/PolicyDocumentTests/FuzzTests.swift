import PolicyDocument
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@Suite("Policy file fuzzing")
struct FuzzTests {
    private static let mutator = Mutator(words: [
        ": ", "- ", "\n", "\n  ", "\t", "# ", "&a ", "*a", "<<: *a", "!!binary ", "!!str ", "!x ", "? ", "| ", "|-\n",
        ">+2\n", "---\n",
        "...\n", "%YAML 9.9\n", "{", "}", "[", "]", "[[[[[[[[[[[[[[[[", "{a: {a: {a: {a: {a: ", "'", "''", "\"", "\\x",
        "\\u0000", "\\ud800",
        "null", "~", "yes", "true", ".inf", ".nan", "0x10", "0o17", "1_000", "1e999", "-0", "2026-01-01", "12:30:00",
        "apps:", "rules:",
        "releases:", "\u{FEFF}", "\u{85}", "\u{2028}", "e\u{301}", "\u{202E}",
    ])

    private static let lineBreaks: Set<Unicode.Scalar> = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]

    @Test(
        "Random and mutated policy files are read to rows that are written and read again without a change, or refused with places that exist"
    )
    func areReadOrRefused() throws {
        try FuzzRun.run("policy files") { random in
            var generator = PolicyGenerator(AwkwardPolicies.style, seed: random.next() % 200)
            var file =
                random.chance(2)
                ? Mutator.noise(&random) : Array(PolicyDocument.text(of: generator.policy(), revision: 1).utf8)
            if random.chance(95) { Self.mutator.mutate(&file, &random) }
            let policy: Policy
            do {
                policy = try PolicyDocument(file).policy
            } catch let refusal as PolicyFileFaults {
                // YAML breaks lines at more characters than most editors do.
                let lines =
                    1 + String(decoding: file, as: UTF8.self).unicodeScalars.count(where: Self.lineBreaks.contains)
                try #require(!refusal.faults.isEmpty)
                for fault in refusal.faults {
                    try #require(
                        (1...lines).contains(fault.position.line) && fault.position.column >= 1
                            && !fault.message.isEmpty,
                        "\(fault)\n\(String(decoding: file, as: UTF8.self))"
                    )
                }
                return false
            }
            let text = PolicyDocument.text(of: policy, revision: 1)
            let again = try PolicyDocument(Array(text.utf8)).policy
            try #require(again.contents == policy.contents, "\(String(decoding: file, as: UTF8.self))\n\(text)")
            return true
        }
    }
}

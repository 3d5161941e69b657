import TestPolicies
import TestRandom
import UpdatePolicy

extension PolicyGenerator {
    /// The next client, near the rules of crowded policies.
    mutating func client() throws -> Client {
        let members: [(String, String?)] = [
            ("bundle", random.pick(["com.example.doto", "com.example.other", "COM.Example.DOTO", "unknown"])),
            ("version", maybe(90) { $0.random.pick(PolicyStyle.crowded.pools.versions + ["?", "1.1.9", "1.2.0"]) }),
            ("build", maybe(60) { $0.random.pick(PolicyStyle.crowded.pools.builds + ["?"]) }),
            ("platform", maybe(90) { $0.random.pick(["iOS", "iPadOS", "Android", "macos", "web"]) }),
            ("region", maybe(70) { $0.random.pick(["JP", "en_US", "de-DE", "en", "GB"]) }),
            ("os", maybe(60) { $0.random.pick(["14", "14.8", "15", "16.1", "21.6", "26", "?"]) }),
            ("language", maybe(50) { $0.random.pick(["de_AT", "zh-Hant-TW", "zh", "en"]) }),
            ("install", maybe(70) { "install-\(Int.random(in: 0...500, using: &$0.random))" }),
            ("channel", maybe(50) { $0.random.pick(["a", "b", "c"]) }),
            ("device", maybe(50) { $0.random.pick(["a", "1", "true", "x"]) }),
        ]
        let sent = members.shuffled(using: &random).compactMap { name, value in value.map { (name, $0) } }
        return try TestPolicy.client(of: sent)
    }

    private mutating func maybe(_ percent: Int, _ make: (inout Self) -> String) -> String? {
        random.chance(percent) ? make(&self) : nil
    }
}

import Foundation

/// Checks of random clients, and what must be counted for them by the plainest of means.
struct LoadedChecks: Sendable {
    /// How many checks a load is: 2,000, or `VERSIONGATE_CHECKS`.
    static let count = ProcessInfo.processInfo.environment["VERSIONGATE_CHECKS"].flatMap { Int($0) } ?? 2_000

    /// How many there were.
    private(set) var checks = 0
    /// By kind of client the checks, those with a message, and those with a lockout; by rule those sent, and lockouts.
    private(set) var rows: [String: [Int]] = [:]

    private static let platforms: [(written: String, name: String)] = [
        ("iOS", "ios"), ("ipados", "ios"), ("Android", "android"), ("my phone", "-"),
    ]
    private static let regions: [(written: String, code: String)] = [("DE", "DE"), ("ja_JP", "JP"), ("English", "-")]
    private static let systems = ["17", "17.1", "14"]

    /// The body of the next check.
    mutating func next() -> String {
        checks += 1
        let minor = Int.random(in: 0..<10)
        let version = "1.\(minor).\(Int.random(in: 0..<5))"
        let platform = Self.platforms[Int.random(in: 0..<Self.platforms.count)]
        let region = Self.regions[Int.random(in: 0..<Self.regions.count)]
        let system = Self.systems[Int.random(in: 0..<Self.systems.count)]
        let build = Int.random(in: 1...3)
        let isListed = Int.random(in: 0..<10) > 0
        let bundle = isListed ? "com.example.Doto" : "com.example.other"
        let sent = isListed ? (minor < 5 ? ["update"] : []) + (minor == 3 ? ["blocked"] : []) : []
        let kind = "com.example.doto \(platform.name) \(version) \(build) \(region.code) \(system)"
        let lockouts = sent.contains("blocked") ? 1 : 0
        add([1, sent.isEmpty ? 0 : 1, lockouts], to: isListed ? kind : "- - - - - -")
        for rule in sent { add([1, rule == "blocked" ? 1 : 0, 0], to: rule) }
        let install = UInt64.random(in: 0 ... .max)
        return """
            {"bundle":"\(bundle)","version":"\(version)","build":\(build),"platform":"\(platform.written)",\
            "region":"\(region.written)","os":"\(system)","install":"\(install)","channel":"beta"}
            """
    }

    /// Adds other checks.
    mutating func add(_ other: LoadedChecks) {
        checks += other.checks
        for (name, numbers) in other.rows { add(numbers, to: name) }
    }

    private mutating func add(_ numbers: [Int], to name: String) {
        rows[name] = zip(rows[name] ?? [0, 0, 0], numbers).map { $0 + $1 }
    }
}

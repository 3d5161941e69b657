import PolicyStore
import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing

@testable import UpdatePolicy

@Suite("Statuses", .migratedDatabase)
struct StatusTests {
    /// Where a rule locks out.
    private struct Place {
        let bundle: String
        let platform: String
        let region: String?
    }

    @Test(
        "A lockout is on where the engine locks a client out, on each of its platforms and in each of its regions, and only then"
    )
    func isWhatClientsGet() async throws {
        let seed = ComparisonSettings.current.seed(ofPart: 0)
        let connection = try await TestDatabase.current.connect()
        let judged = try await connection.withSession { session in
            try Self.judge(SpecificationSession(session: session), seed: seed)
        }
        print("Judged lockouts by what clients get: \(judged)")
        #expect(judged.count == 3 || !Trials.areLong, "\(judged)")
    }

    private static func judge(_ specification: SpecificationSession, seed: UInt64) throws -> [RuleStatus.Name: Int] {
        var policies = PolicyGenerator(seed: seed)
        var judged: [RuleStatus.Name: Int] = [:]
        for _ in 0..<Trials.count(300) {
            let scene = policies.scene()
            var generator = CheckGenerator(scene, seed: policies.seedForChecks())
            let moments = (0..<4).map { _ in generator.time() }
            try specification.withPolicy(scene.policy, timeZone: scene.timeZone) { written in
                // Of a min_os that no system has the view says what holds if one had it, and policy_warnings that none has.
                guard written.read.releases.allSatisfy(asksForSystem) else { return }
                for (moment, rows) in zip(moments, try specification.statuses(at: moments)) {
                    for row in rows {
                        let name = try #require(row[1].flatMap { RuleStatus.Name(rawValue: $0.string) })
                        let rule = try #require(written.read.rules.first { UTF8Text($0.key) == row[0] })
                        guard name.isSent, rule.lockout, !rule.lockoutWithoutUpdate else { continue }
                        let found = try Self.name(of: rule, in: written.read, at: moment)
                        #expect(name == found, "VERSIONGATE_SEED=\(seed): \(row), \(rule), \(moment)")
                        judged[name, default: 0] += 1
                    }
                }
            }
        }
        return judged
    }

    private static func asksForSystem(_ release: Release) -> Bool {
        guard let least = release.minOS.flatMap({ AppVersion($0) }) else { return true }
        return !Platform(release.platform).numbersOfNoSystem.contains(least.key)
    }

    /// What a lockout that is sent comes to for clients, each of which the engine is asked about.
    private static func name(of rule: Rule, in policy: Policy, at time: Timestamp) throws -> RuleStatus.Name {
        // What else a client must be to get it, and which other rules it gets first, is no matter of the way out.
        var alone = rule
        (alone.languages, alone.attributes, alone.steps, alone.rollout) = (nil, nil, [], .all)
        let engine = try CompiledPolicy(policy.with { $0.rules = [alone] })
        let places = places(of: rule, in: policy)
        let open = try places.filter { place in
            try clients(of: rule, in: place, policy.releases).contains { client in
                engine.messages(for: try client.client(), at: time).contains(where: \.lockout)
            }
        }
        return open.isEmpty ? .onWithoutLockout : open.count == places.count ? .on : .partlyWithoutLockout
    }

    private static func places(of rule: Rule, in policy: Policy) -> [Place] {
        func platforms(_ bundle: String) -> Set<String> {
            Set(policy.releases.filter { $0.bundle == bundle }.map(\.platform))
        }
        let regions = rule.regions.map { $0.map { Optional($0) } } ?? [nil]
        let bundles = rule.bundle.map { [$0] } ?? policy.apps.filter { !$0.paused }.map(\.bundle)
        var places = bundles.flatMap { bundle in
            let all = platforms(bundle)
            // A rule for every app is judged on the platforms that each app has.
            let named = rule.platforms.map { Set($0) } ?? all
            let here = rule.bundle == nil ? named.intersection(all) : named
            return here.map { (bundle: bundle, platform: $0) }
        }
        if rule.bundle == nil {
            places += (rule.platforms ?? []).filter { wanted in !places.contains { $0.platform == wanted } }
                .map { ("com.example.nowhere", $0) }
        }
        return places.flatMap { place in
            regions.map { Place(bundle: place.bundle, platform: place.platform, region: $0) }
        }
    }

    /// Clients near everything that decides about a way out there.
    private static func clients(of rule: Rule, in place: Place, _ releases: [Release]) -> [ClientDescription] {
        let there = releases.filter { $0.bundle == place.bundle && $0.platform == place.platform }
        let versions = bounds(rule.versions) + there.map(\.version)
        let systems = there.compactMap(\.minOS).map { Optional($0) }
        let regions = there.flatMap { $0.regions ?? [] }.map { Optional($0) }
        var clients: [ClientDescription] = []
        for version in Set(versions) {
            for build in Set(bounds(rule.builds)) {
                for os in Set(systems + (rule.os == nil ? [nil] : bounds(rule.os).map { Optional($0) })) {
                    for region in Set(rule.regions == nil ? [nil] + regions : [place.region]) {
                        var client: ClientDescription = [
                            "bundle": .text(place.bundle), "platform": .text(place.platform), "version": .text(version),
                            "build": .text(build),
                        ]
                        if let os { client.append("os", .text(os)) }
                        if let region { client.append("region", .text(region)) }
                        clients.append(client)
                    }
                }
            }
        }
        return clients
    }

    /// The least versions of a range, and some just above them.
    private static func bounds(_ range: String?) -> [String] {
        (range.map { VersionRange($0)?.intervals ?? [] } ?? [.all]).flatMap { interval in
            var reader = VersionKeyReader(key: interval.lower)
            let read = reader.numbers()
            let numbers = (read.isEmpty ? ["0"] : read).joined(separator: ".")
            let identifiers = reader.identifiers()
            return identifiers.isEmpty
                ? [numbers, numbers + ".0.0.0.0.0.1-0"] : ["\(numbers)-\(identifiers.joined(separator: "."))"]
        }
    }
}

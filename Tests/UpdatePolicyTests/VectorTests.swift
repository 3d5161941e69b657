import TestPolicies
import Testing

@testable import UpdatePolicy

@Suite("Vectors")
struct VectorTests {
    @Test("Versions compare as the vectors say, both ways round")
    func versions() throws {
        let cases: [Vectors.VersionPair] = try Vectors.cases("versions")
        #expect(cases.count >= 150)
        for pair in cases {
            #expect(order(pair.a, pair.b) == pair.order, "\(pair)")
            #expect(order(pair.b, pair.a) == pair.order.map { -$0 }, "\(pair)")
        }
    }

    private func order(_ a: String, _ b: String) -> Int? {
        guard let a = AppVersion(a), let b = AppVersion(b) else { return nil }
        #expect((a == b) == (a.hashValue == b.hashValue))
        return a < b ? -1 : b < a ? 1 : 0
    }

    @Test("Ranges hold the versions that the vectors say")
    func ranges() throws {
        let cases: [Vectors.RangePair] = try Vectors.cases("ranges")
        #expect(cases.count >= 150)
        for pair in cases {
            let range = try #require(VersionRange(pair.range), "\(pair)")
            let matches = AppVersion(pair.version).map(range.contains) ?? false
            #expect(matches == pair.matches, "\(pair)")
            #expect(range.text == pair.range)
        }
    }

    @Test("A region is read from what clients send as the vectors say")
    func regions() throws {
        for region in try Vectors.cases("regions", as: Vectors.RegionCase.self) {
            #expect(Region(locale: region.text)?.code == region.region, "\(region)")
        }
    }

    @Test("Language ranges hold the tags that the vectors say")
    func languages() throws {
        for language in try Vectors.cases("languages", as: Vectors.LanguageCase.self) {
            #expect(LanguageTag(language.tag).matches(LanguageTag(language.range)) == language.matches, "\(language)")
        }
    }

    @Test("The translation that the vectors say is chosen")
    func lookups() throws {
        for lookup in try Vectors.cases("lookups", as: Vectors.LookupCase.self) {
            let index = LanguageTag(lookup.tag).lookup(in: lookup.translations.map { LanguageTag($0) })
            #expect(index.map { lookup.translations[$0] } == lookup.chosen, "\(lookup)")
        }
    }

    @Test("Platforms are read as the vectors say")
    func platforms() throws {
        for platform in try Vectors.cases("platforms", as: Vectors.PlatformCase.self) {
            #expect(UTF8Text(Platform(platform.text).name) == UTF8Text(platform.platform), "\(platform)")
        }
    }

    @Test("The numbers that no system of a platform ever had are those that the vectors say")
    func systems() throws {
        let cases: [Vectors.SystemCase] = try Vectors.cases("systems")
        for system in cases {
            let client = try TestPolicy.client(["platform": system.platform, "os": system.os])
            #expect(client.sentNumberOfNoSystem != system.isSystem, "\(system)")
            #expect((client.system != nil) == system.isSystem, "\(system)")
        }
    }

    @Test("Installs fall into the buckets that the vectors say")
    func buckets() throws {
        for bucket in try Vectors.cases("buckets", as: Vectors.BucketCase.self) {
            #expect(Bucket(key: bucket.key, install: UTF8Text(bucket.install)).number == bucket.bucket, "\(bucket)")
        }
    }
}

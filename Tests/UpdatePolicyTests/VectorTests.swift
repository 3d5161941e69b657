// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdatePolicy

@Suite("The vectors")
struct VectorTests {
    struct VersionPair: Decodable {
        let a: String
        let b: String
        let order: Int?
    }

    @Test("Versions compare as the vectors say, both ways round")
    func versions() throws {
        let cases: [VersionPair] = try Vectors.cases("versions")
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

    struct RangePair: Decodable {
        let range: String
        let version: String
        let matches: Bool
    }

    @Test("Ranges hold the versions that the vectors say")
    func ranges() throws {
        let cases: [RangePair] = try Vectors.cases("ranges")
        #expect(cases.count >= 150)
        for pair in cases {
            let range = try VersionRange(pair.range)
            let matches = AppVersion(pair.version).map(range.contains) ?? false
            #expect(matches == pair.matches, "\(pair)")
            #expect(range.text == pair.range)
        }
    }

    struct RangeFault: Decodable {
        let range: String
        let token: String
        let hint: String
        let suggestion: String?
    }

    @Test("A text that is no range is refused with the token at fault and a hint")
    func rangeErrors() throws {
        for fault in try Vectors.cases("range-errors", as: RangeFault.self) {
            let refusal = #expect(throws: VersionRangeError.self, "\(fault)") { try VersionRange(fault.range) }
            let error = try #require(refusal)
            #expect(error.message.contains(fault.token), "\(fault): \(error.message)")
            #expect(fault.hint.isEmpty || error.hint.contains(fault.hint), "\(fault): \(error.hint)")
            #expect(error.suggestion == fault.suggestion, "\(fault): \(error.hint)")
            #expect(error.hint.hasSuffix(fault.suggestion.map { ": \($0)" } ?? "."), "\(fault): \(error.hint)")
        }
    }

    struct RegionCase: Decodable {
        let text: String
        let region: String?
    }

    @Test("A region is read from what clients send as the vectors say")
    func regions() throws {
        for region in try Vectors.cases("regions", as: RegionCase.self) {
            #expect(Region(locale: region.text)?.code == region.region, "\(region)")
        }
    }

    struct LanguageCase: Decodable {
        let range: String
        let tag: String
        let matches: Bool
    }

    @Test("Language ranges hold the tags that the vectors say")
    func languages() throws {
        for language in try Vectors.cases("languages", as: LanguageCase.self) {
            #expect(LanguageTag(language.tag).matches(LanguageTag(language.range)) == language.matches, "\(language)")
        }
    }

    struct LookupCase: Decodable {
        let tag: String
        let translations: [String]
        let chosen: String?
    }

    @Test("The translation that the vectors say is chosen")
    func lookups() throws {
        for lookup in try Vectors.cases("lookups", as: LookupCase.self) {
            let index = LanguageTag(lookup.tag).lookup(in: lookup.translations.map { LanguageTag($0) })
            #expect(index.map { lookup.translations[$0] } == lookup.chosen, "\(lookup)")
        }
    }

    struct PlatformCase: Decodable {
        let text: String
        let platform: String
    }

    @Test("Platforms are read as the vectors say")
    func platforms() throws {
        for platform in try Vectors.cases("platforms", as: PlatformCase.self) {
            #expect(UTF8Text(Platform(platform.text).name) == UTF8Text(platform.platform), "\(platform)")
        }
    }

    struct BucketCase: Decodable {
        let key: String
        let install: String
        let bucket: Int
    }

    @Test("Installs fall into the buckets that the vectors say")
    func buckets() throws {
        for bucket in try Vectors.cases("buckets", as: BucketCase.self) {
            #expect(Bucket(key: bucket.key, install: UTF8Text(bucket.install)).number == bucket.bucket, "\(bucket)")
        }
    }
}

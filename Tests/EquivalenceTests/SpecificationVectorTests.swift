import Postgres
import TestDatabase
import TestPolicies
import Testing

@Suite("SQL vectors", .migratedDatabase)
struct SpecificationVectorTests {
    @Test("Versions compare as the vectors say, both ways round")
    func versions() async throws {
        let connection = try await TestDatabase.current.connect()
        let pairs: [Vectors.VersionPair] = try Vectors.cases("versions")
        #expect(pairs.count >= 150)
        for pair in pairs {
            let row = try await connection.query(
                "SELECT ARRAY[version_compare($1, $2), version_compare($2, $1)]::int8[]",
                [pair.a, pair.b]
            )
            #expect(try row.value(as: [Int?].self) == [pair.order, pair.order.map { -$0 }], "\(pair)")
        }
    }

    @Test("Ranges hold the versions that the vectors say")
    func ranges() async throws {
        let connection = try await TestDatabase.current.connect()
        let pairs: [Vectors.RangePair] = try Vectors.cases("ranges")
        #expect(pairs.count >= 150)
        for pair in pairs {
            let row = try await connection.query("SELECT version_matches($1, $2) IS TRUE", [pair.version, pair.range])
            #expect(try row.value(as: Bool.self) == pair.matches, "\(pair)")
        }
    }

    @Test("A text that is no range is refused with the token at fault and a hint")
    func rangeErrors() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute("INSERT INTO apps (bundle) VALUES ('com.example.doto')")
        for fault in try Vectors.cases("range-errors", as: Vectors.RangeFault.self) {
            let error = await #expect(throws: PostgresError.self, "\(fault)") {
                try await connection.query(
                    "INSERT INTO rules (key, title, text, versions) VALUES ('r', 't', 'x', $1)",
                    [fault.range]
                )
            }
            #expect(error?.constraint == "rules_versions_check", "\(fault)")
            let told = [error?.message, error?.detail].compactMap { $0 }.joined(separator: "\n")
            #expect(told.contains(fault.token), "\(fault): \(told)")
            let hint = try #require(error?.hint)
            #expect(fault.hint.isEmpty || hint.contains(fault.hint), "\(fault): \(hint)")
            #expect(hint.hasSuffix(fault.suggestion.map { ": \($0)" } ?? "."), "\(fault): \(hint)")
        }
    }

    @Test("Countries are read as the vectors say")
    func regions() async throws {
        let connection = try await TestDatabase.current.connect()
        for region in try Vectors.cases("regions", as: Vectors.RegionCase.self) {
            let row = try await connection.query("SELECT versiongate_internal.country_of_region($1)", [region.text])
            #expect(try row.value(as: String?.self) == region.region, "\(region)")
        }
    }

    @Test("Language ranges hold the tags that the vectors say")
    func languages() async throws {
        let connection = try await TestDatabase.current.connect()
        for language in try Vectors.cases("languages", as: Vectors.LanguageCase.self) {
            let row = try await connection.query(
                """
                SELECT versiongate_internal.language_matches(
                    versiongate_internal.language_tag($1), ARRAY[versiongate_internal.current_language($2)]) IS TRUE
                """,
                [language.tag, language.range]
            )
            #expect(try row.value(as: Bool.self) == language.matches, "\(language)")
        }
    }

    @Test("The translation that the vectors say is chosen")
    func lookups() async throws {
        let connection = try await TestDatabase.current.connect()
        for lookup in try Vectors.cases("lookups", as: Vectors.LookupCase.self) {
            let row = try await connection.query(
                """
                SELECT (
                    SELECT written FROM unnest($2::text[]) AS written,
                        unnest(versiongate_internal.language_fallbacks(versiongate_internal.language_tag($1))) WITH ORDINALITY AS fallback(tag, place)
                    WHERE versiongate_internal.language_tag(written) = fallback.tag ORDER BY fallback.place LIMIT 1
                )
                """,
                [lookup.tag, lookup.translations]
            )
            #expect(try row.value(as: String?.self) == lookup.chosen, "\(lookup)")
        }
    }

    @Test("Platforms are read as the vectors say")
    func platforms() async throws {
        let connection = try await TestDatabase.current.connect()
        for platform in try Vectors.cases("platforms", as: Vectors.PlatformCase.self) {
            let row = try await connection.query(
                "SELECT versiongate_internal.platform_name($1) = $2",
                [platform.text, platform.platform]
            )
            #expect(try row.value(as: Bool.self), "\(platform)")
        }
    }

    @Test("The numbers that no system of a platform ever had are those that the vectors say")
    func systems() async throws {
        let connection = try await TestDatabase.current.connect()
        let cases: [Vectors.SystemCase] = try Vectors.cases("systems")
        #expect(cases.count >= 40)
        for system in cases {
            let row = try await connection.query(
                """
                SELECT versiongate_internal.is_system(
                    versiongate_internal.platform_name($1), versiongate_internal.version_key($2)
                )
                """,
                [system.platform, system.os]
            )
            #expect(try row.value(as: Bool.self) == system.isSystem, "\(system)")
        }
    }

    @Test("Installs fall into the buckets that the vectors say")
    func buckets() async throws {
        let connection = try await TestDatabase.current.connect()
        for bucket in try Vectors.cases("buckets", as: Vectors.BucketCase.self) {
            let row = try await connection.query("SELECT rollout_bucket($1, $2)::int8", [bucket.key, bucket.install])
            #expect(try row.value(as: Int.self) == bucket.bucket, "\(bucket)")
        }
    }
}

import Dispatch
import Postgres
import TestDatabase
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Policy reader", .migratedDatabase)
struct PolicyReaderTests {
    @Test("The reader gives every column of every table back as it was written")
    func readsEverything() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        try await admin.execute(
            #"""
            INSERT INTO apps (bundle, name, paused, store_id, seller)
            VALUES ('com.example.Doto', 'Dotö "x"', true, 9007199254740991, 'Ü');
            INSERT INTO feed_templates VALUES ('com.example.DOTO', 'v.json', 'application/json', E'{\n}');
            INSERT INTO store_links (bundle, platform, link) VALUES ('com.example.doto', 'iPadOS', 'https://example.com/a');
            INSERT INTO releases (bundle, platform, version, build, min_os, regions, live_at, withdrawn_at)
            VALUES ('com.example.doto', 'ios', 'v1.2', '42', '15', '{DE,US}',
                '2026-03-01T12:00:00.000001Z', '2026-04-01T12:00:00Z');
            INSERT INTO release_notes SELECT id, 'und', E'New\nÄ {app}' FROM releases;
            INSERT INTO release_notes SELECT id, 'de', 'Neu' FROM releases;
            INSERT INTO rules (key, bundle, enabled, position, versions, builds, os, platforms, regions, languages, attributes,
                target, soak, rollout, starts_at, ends_at, title, text, link, remind, shows, skippable, lockout,
                lockout_without_update, final, note)
            VALUES ('k', 'COM.EXAMPLE.DOTO', false, -3, '<1.2', '<42', '>=14', '{ios,android}', '{DE}', '{de,zh-Hant}',
                '{"channel":["beta","a\"b"],"n":["1"]}', '1.2', '1 day 02:00:00.5', 100,
                '2026-03-01T12:00:00Z', '2026-05-01T12:00:00Z', 'Title', E'Line\nÄ "{app}"', 'store',
                '1 day 02:00:00', 1000, true, true, true, true, 'note');
            INSERT INTO rule_texts (rule, language, title, text) VALUES ('k', 'de', 'Titel', 'Text');
            INSERT INTO rollout_steps (rule, at, rollout) VALUES ('k', '2026-03-02T00:00:00Z', 37.25), ('k', '2026-03-03T00:00:00Z', 100);
            UPDATE rules SET held_at = '2026-03-02T12:00:00.000001Z';
            """#
        )
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        let policy = try await PolicyReader.policy(server)
        #expect(policy.revision == 1)
        #expect(
            policy.apps == [
                App(bundle: "com.example.Doto", name: "Dotö \"x\"") {
                    $0.paused = true
                    $0.storeID = 9_007_199_254_740_991
                    $0.seller = "Ü"
                    $0.storeLinks = [StoreLink(platform: "ios", link: "https://example.com/a")]
                    $0.feedTemplates = [FeedTemplate(name: "v.json", contentType: "application/json", body: "{\n}")]
                }
            ]
        )
        let release = try #require(policy.releases.first)
        #expect(
            release
                == Release(id: release.id, bundle: "com.example.Doto", platform: "ios", version: "v1.2") {
                    $0.build = "42"
                    $0.minOS = "15"
                    $0.regions = ["DE", "US"]
                    $0.liveAt = Timestamp("2026-03-01T12:00:00.000001Z")
                    $0.staged = false
                    $0.withdrawnAt = Timestamp("2026-04-01T12:00:00Z")
                    $0.notes = [ReleaseNote(language: "de", text: "Neu"), ReleaseNote(text: "New\nÄ {app}")]
                }
        )
        let steps = [
            RolloutStep(
                at: try #require(Timestamp("2026-03-02T00:00:00Z")),
                rollout: try #require(Percentage(hundredths: 3_725))
            ),
            RolloutStep(at: try #require(Timestamp("2026-03-03T00:00:00Z")), rollout: .all),
        ]
        #expect(
            policy.rules == [
                Rule(key: "k", title: "Title", text: "Line\nÄ \"{app}\"") {
                    $0.bundle = "com.example.Doto"
                    $0.enabled = false
                    $0.position = -3
                    $0.versions = "<1.2"
                    $0.builds = "<42"
                    $0.os = ">=14"
                    $0.platforms = ["ios", "android"]
                    $0.regions = ["DE"]
                    $0.languages = ["de", "zh-Hant"]
                    $0.attributes = [
                        AttributeCondition(name: "n", values: ["1"]),
                        AttributeCondition(name: "channel", values: ["beta", "a\"b"]),
                    ]
                    $0.target = "1.2"
                    $0.soak = DayTimeInterval(microseconds: 93_600_500_000)
                    $0.rollout = .zero
                    $0.heldAt = Timestamp("2026-03-02T12:00:00.000001Z")
                    $0.startsAt = Timestamp("2026-03-01T12:00:00Z")
                    $0.endsAt = Timestamp("2026-05-01T12:00:00Z")
                    $0.link = "store"
                    $0.remind = DayTimeInterval(microseconds: 93_600_000_000)
                    $0.shows = 1_000
                    $0.skippable = true
                    $0.lockout = true
                    $0.lockoutWithoutUpdate = true
                    $0.final = true
                    $0.texts = [RuleText(language: "de", title: "Titel", text: "Text")]
                    $0.steps = steps
                }
            ]
        )
    }

    @Test("The reader sees one moment, and gives up soon when a table is locked")
    func givesUpOnALock() async throws {
        let locker = try await TestDatabase.current.connect()
        let server = try await TestDatabase.current.connect(user: "versiongate_server")
        try await locker.transaction(.readWrite) { session in
            try session.execute("LOCK TABLE rules")
            let ended = DispatchSemaphore(value: 0)
            Task {
                let error = await #expect(throws: PostgresError.self) { try await PolicyReader.policy(server) }
                #expect(error?.sqlState == .lockNotAvailable)
                ended.signal()
            }
            #expect(ended.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        }
    }
}

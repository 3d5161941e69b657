import Postgres
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyStore

/// What must hold of every column of the policy tables, also of one that is added one day: none is forgotten by what
/// reads, writes and judges them.
@Suite("Policy columns", .migratedDatabase)
struct PolicyColumnTests {
    /// A column of the real schema.
    struct Column: Sendable, Hashable, CustomStringConvertible {
        let table: String
        let name: String
        let type: String
        let isRequired: Bool
        let isGenerated: Bool
        let defaultValue: String?

        var description: String { "\(table).\(name)" }
    }

    private static func catalogue(_ connection: PostgresConnection) async throws -> [Column] {
        try await connection.query(
            """
            SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL), a.attnotnull AND NOT a.atthasdef,
                a.attidentity <> '', pg_get_expr(d.adbin, d.adrelid)
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
            WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
                AND EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND t.tgname = 'a_note_edit')
            ORDER BY c.relname, a.attnum
            """
        ).map { row in
            Column(
                table: try row.decode(0, as: String.self), name: try row.decode(1, as: String.self),
                type: try row.decode(2, as: String.self), isRequired: try row.decode(3, as: Bool.self),
                isGenerated: try row.decode(4, as: Bool.self), defaultValue: try row.decode(5, as: String?.self)
            )
        }
    }

    private static func sqlType(of type: ColumnType) -> String {
        switch type {
        case .text, .key, .bundle, .language, .platform, .version, .range: "text"
        case .texts, .platforms: "text[]"
        case .boolean: "boolean"
        case .integer: "integer"
        case .bigInteger: "bigint"
        case .percentage: "numeric"
        case .time: "timestamp with time zone"
        case .duration: "interval"
        case .attributes: "jsonb"
        }
    }

    @Test("The columns are those that files have: each with its type, its default, and whether it must be there")
    func catalogueAgrees() async throws {
        let columns = try await Self.catalogue(try await TestDatabase.current.connect())
        #expect(Set(columns.map(\.table)) == Set(PolicyTable.allCases.map(\.rawValue)))
        for table in PolicyTable.allCases {
            let present = columns.filter { $0.table == table.rawValue }
            #expect(present.filter(\.isGenerated).map(\.name) == (table.idColumn.map { [$0] } ?? []))
            let edited = present.filter { !$0.isGenerated }
            #expect(Set(edited.map(\.name)) == Set(table.columns.map(\.name)))
            for column in edited {
                let known = try #require(table.columns.first { $0.name == column.name })
                #expect(Self.sqlType(of: known.type) == column.type, "\(column)")
                #expect((known.defaultValue == nil) == column.isRequired, "\(column)")
                let defaultValue = known.defaultValue.flatMap { $0 == .null ? nil : $0.jsonValue.text }
                #expect(defaultValue == column.defaultValue, "\(column)")
            }
        }
    }

    @Test("The columns that this version does not know keep it from reading them for a file, and the column is named")
    func refusesUnknownColumns() async throws {
        let connection = try await TestDatabase.current.connect()
        _ = try await connection.transaction { try PolicyReader.editedPolicy($0) }
        try await connection.execute("ALTER TABLE rules ADD device text; ALTER TABLE apps ADD tier integer")
        await #expect(throws: SchemaError.unknownColumns(["apps.tier", "rules.device"])) {
            try await connection.transaction { _ = try PolicyReader.editedPolicy($0) }
        }
        #expect("\(SchemaError.unknownColumns(["rules.device"]))".contains("the column rules.device"))
        try await connection.execute("ALTER TABLE rules DROP device; ALTER TABLE apps DROP tier")
        _ = try await connection.transaction { try PolicyReader.editedPolicy($0) }
    }

    // MARK: Every column one by one

    /// The rows that the edits below are about: two apps with a link and releases, and a rule with every condition.
    private static let rows = """
        SET versiongate.consent = 'r,ramp';
        INSERT INTO apps VALUES ('a', 'A', false, 'n'), ('b', 'B', false, 'n');
        INSERT INTO store_links VALUES ('a', 'ios', 'https://example.com/a');
        INSERT INTO releases (bundle, platform, version, build, min_os, regions, live_at, staged, withdrawn_at, note)
        VALUES ('a', 'ios', '9.1', '901', '15', '{DE}', '2026-01-01Z', false, '2096-01-01Z', 'n'),
            ('a', 'ios', '9.9', '999', NULL, NULL, '2026-01-01Z', false, NULL, NULL),
            ('b', 'ios', '9.9', '999', NULL, NULL, '2026-01-01Z', false, NULL, NULL);
        INSERT INTO rules (key, bundle, enabled, position, versions, builds, os, platforms, regions, languages, attributes,
            target, soak, rollout, starts_at, ends_at, title, text, link, lockout, lockout_without_update, final, note)
        VALUES ('r', 'a', true, 0, '<2', '<42', '>=14', '{ios}', '{DE,JP}', '{de}', '{"channel": ["beta"]}',
            '1.5', '2 hours', 50, '2096-01-01Z', '2097-01-01Z', 'Title', 'Text', 'https://example.com/', true, false, true,
            'n');
        INSERT INTO rules (key, bundle, enabled, title, text, position, versions, rollout) VALUES
            ('ramp', 'a', true, 'Title', 'Text', 9, '<1', 0);
        INSERT INTO feed_templates VALUES ('a', 'v.json', 'application/json', '{}');
        INSERT INTO release_notes SELECT id, 'de', 'Neu' FROM releases WHERE version = '9.1';
        INSERT INTO rule_texts VALUES ('r', 'de', 'Titel', 'Text');
        INSERT INTO rollout_steps VALUES ('ramp', '2096-01-01Z', 10);
        """

    /// What a column may be edited to; where `first` is not nil, it is that before.
    private struct Edit {
        var first: String?
        let value: String
        /// Why nobody can be locked out by an edit of the column; nil where somebody can.
        var harmless: String?
    }

    private static let text = "words alone"

    private static let edits: [String: Edit] = [
        "apps.bundle": Edit(value: "'A'", harmless: "a new spelling goes into all rows, whose rules concern"),
        "apps.name": Edit(value: "'Other'", harmless: text),
        "apps.paused": Edit(first: "true", value: "false"),
        "apps.note": Edit(value: "'other'", harmless: "never sent"),
        "apps.store_id": Edit(value: "9007199254740991", harmless: text),
        "apps.seller": Edit(value: "'Other'", harmless: text),
        "store_links.bundle": Edit(value: "'b'", harmless: text),
        "store_links.platform": Edit(value: "'android'", harmless: text),
        "store_links.link": Edit(value: "'https://example.com/b'", harmless: text),
        "feed_templates.bundle": Edit(value: "'b'", harmless: text),
        "feed_templates.name": Edit(value: "'w.json'", harmless: text),
        "feed_templates.content_type": Edit(value: "'text/plain'", harmless: text),
        "feed_templates.body": Edit(value: "'{{floor}}'", harmless: text),
        "release_notes.release": Edit(
            value: "(SELECT id FROM releases WHERE (bundle, version) = ('a', '9.9'))",
            harmless: text
        ),
        "release_notes.language": Edit(value: "'und'", harmless: text),
        "release_notes.text": Edit(value: "'Anders'", harmless: text),
        "releases.bundle": Edit(value: "'b'"),
        "releases.platform": Edit(value: "'android'"),
        "releases.version": Edit(value: "'9.2'"),
        "releases.build": Edit(value: "'902'"),
        "releases.min_os": Edit(value: "'14'"),
        "releases.regions": Edit(value: "'{FR}'"),
        "releases.live_at": Edit(value: "'2026-01-02Z'"),
        "releases.staged": Edit(first: "true", value: "false"),
        "releases.withdrawn_at": Edit(value: "NULL"),
        "releases.note": Edit(value: "'other'", harmless: "never sent"),
        "rules.key": Edit(value: "'s'"),
        "rules.bundle": Edit(value: "'b'"),
        "rules.enabled": Edit(first: "false", value: "true"),
        "rules.position": Edit(value: "-1"),
        "rules.versions": Edit(value: "'<3'"),
        "rules.builds": Edit(value: "'<43'"),
        "rules.os": Edit(value: "'>=13'"),
        "rules.platforms": Edit(value: "'{android,ios}'"),
        "rules.regions": Edit(value: "'{FR}'"),
        "rules.languages": Edit(value: "'{fr}'"),
        "rules.attributes": Edit(value: "'{\"channel\": [\"nightly\"]}'"),
        "rules.target": Edit(value: "'1.6'"),
        "rules.soak": Edit(value: "'1 hour'"),
        "rules.rollout": Edit(value: "51"),
        "rules.held_at": Edit(first: "'2095-01-01Z'", value: "NULL"),
        "rules.starts_at": Edit(value: "'2095-01-01Z'"),
        "rules.ends_at": Edit(value: "'2098-01-01Z'"),
        "rules.title": Edit(value: "'Other'", harmless: text),
        "rules.text": Edit(value: "'Other'", harmless: text),
        "rules.link": Edit(value: "'https://example.com/other'", harmless: text),
        "rules.remind": Edit(value: "'1 day'", harmless: text),
        "rules.shows": Edit(value: "3", harmless: text),
        "rules.skippable": Edit(value: "true", harmless: text),
        "rules.lockout": Edit(first: "false", value: "true"),
        "rules.lockout_without_update": Edit(value: "true"),
        "rules.fuse": Edit(value: "7", harmless: "it only takes a lockout away"),
        "rules.final": Edit(value: "false"),
        "rules.note": Edit(value: "'other'", harmless: "never sent"),
        "rule_texts.rule": Edit(value: "'ramp'", harmless: text),
        "rule_texts.language": Edit(value: "'fr'", harmless: text),
        "rule_texts.title": Edit(value: "'Anders'", harmless: text),
        "rule_texts.text": Edit(value: "'Anders'", harmless: text),
        "rollout_steps.rule": Edit(value: "'r'"),
        "rollout_steps.at": Edit(value: "'2095-01-01Z'"),
        "rollout_steps.rollout": Edit(value: "20"),
    ]

    /// The rows that are edited: only what has steps can be held.
    private static func condition(_ column: Column) -> String {
        if column.name == "held_at" { return "key = 'ramp'" }
        return switch column.table {
        case "apps", "store_links", "feed_templates": "bundle = 'a'"
        case "releases": "version = '9.1'"
        case "rules": "key = 'r'"
        default: "true"
        }
    }

    private static func update(_ column: Column, to value: String) -> String {
        "UPDATE \(column.table) SET \(column.name) = \(value) WHERE \(condition(column))"
    }

    @Test("The columns are read for the server, each but notes, and for files, each")
    func everyColumnIsRead() async throws {
        let connection = try await TestDatabase.current.connect()
        try await connection.execute(Self.rows)
        for column in try await Self.catalogue(connection) where !column.isGenerated {
            let edit = try #require(Self.edits["\(column)"], "say here what \(column) may be edited to")
            let update = Self.update(column, to: edit.value)
            // Only the reading is judged here, so guards and keys do not hold.
            try await connection.execute("SET session_replication_role = replica")
            await #expect(throws: CancellationError.self) {
                try await connection.transaction { session in
                    if let first = edit.first { try session.execute(Self.update(column, to: first)) }
                    let before = (
                        try PolicyReader.policy(session, bundles: nil), try PolicyReader.editedPolicy(session)
                    )
                    try session.execute(update)
                    let after = (try PolicyReader.policy(session, bundles: nil), try PolicyReader.editedPolicy(session))
                    #expect((before.0 != after.0) == (column.name != "note"), "\(column)")
                    let table = try #require(PolicyTable(rawValue: column.table))
                    #expect(Set(before.1.rows(of: table)) != Set(after.1.rows(of: table)), "\(column)")
                    throw CancellationError()
                }
            }
        }
    }

    @Test(
        "The columns that decide who is locked out need approval when they are edited; all but those that are known not to"
    )
    func everyConditionNeedsConsent() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.rows)
        let connection = try await TestDatabase.current.connect(user: "versiongate_admin")
        let editing = PolicyTransaction(connection, logger: TestDatabase.logger)
        let now = Timestamp(secondsSince1970: 1_772_366_400)
        for column in try await Self.catalogue(owner) where !column.isGenerated {
            // These cannot be edited by themselves, or at all: a key stays, a step of this rule would have to go first.
            if ["rules.key", "rollout_steps.rule"].contains("\(column)") { continue }
            let edit = try #require(Self.edits["\(column)"], "say here what \(column) may be edited to")
            // The ramp locks nobody out, so its steps count only once it does.
            let needsLockout = column.table == "rollout_steps" || column.name == "held_at"
            if let first = edit.first { try await owner.execute(Self.update(column, to: first)) }
            if needsLockout {
                try await owner.execute(
                    "UPDATE rules SET lockout = true, lockout_without_update = true WHERE key = 'ramp'"
                )
            }
            let reach = try await editing.dryRun { editor in
                try editor.session.execute(Self.update(column, to: edit.value))
            }?.reach
            let apps = reach.map { AppsWithNewLockouts(from: $0.before, to: $0.after, at: now) }
            if edit.harmless == nil {
                #expect(apps?.isEmpty == false, "\(column)")
            } else if column.name != "bundle" {
                #expect(apps?.isEmpty != false, "\(column)")
            }
            guard needsLockout || edit.first != nil else { continue }
            try await owner.execute(
                """
                DELETE FROM store_links; DELETE FROM rollout_steps; DELETE FROM rules; DELETE FROM releases;
                DELETE FROM apps
                """
            )
            try await owner.execute(Self.rows)
        }
    }
}

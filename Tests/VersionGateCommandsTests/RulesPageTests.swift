import Foundation
import PolicyStore
import Postgres
import TestDatabase
import TestPolicies
import TestRandom
import Testing
import UpdatePolicy

@testable import VersionGateCommands

/// Holds the tables of the reference of rules, and of the file with its cases, to the program, row by row: to SQL and to
/// the engine.
@Suite("Rules page", .whole, .migratedDatabase, .timeLimit(.minutes(20)))
struct RulesPageTests {
    static let page = "Documentation/Rules.md"
    /// More rows of its tables, and the policy that they speak of.
    static let cases = "Tests/Vectors/rules.txt"

    /// The client of the page.
    private static let members = [
        "bundle": "com.example.doto", "version": "1.1", "platform": "ios", "os": "17", "region": "JP",
    ]
    /// When its check comes.
    private static let time = "2026-03-10T12:00:00Z"

    /// The rows of the tables with these columns, of the page and of the cases.
    private static func rows(_ columns: String...) throws -> [MarkdownTable.Row] {
        let tables = try [page, cases].flatMap { try MarkdownTable.all(in: $0) }.filter { $0.columns == columns }
        try #require(!tables.isEmpty && tables.count <= 2, "\(tables.count) tables have the columns \(columns)")
        return tables.flatMap(\.rows)
    }

    /// Makes the policy of the page that of the database.
    private func writePolicy() async throws {
        let block = try #require(try MarkdownBlock.all(in: Self.cases).first { $0.language == "yaml" })
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml")
        try Data(block.text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let result = try await BuiltBinary(.current).run(arguments: ["apply", file.path, "--yes"])
        try #require(result.status == 0, "\(result.errors)")
    }
}

// MARK: - Versions and ranges

extension RulesPageTests {
    private static func order(_ a: String, _ b: String) -> String? {
        guard let a = AppVersion(a), let b = AppVersion(b) else { return nil }
        return a < b ? "<" : b < a ? ">" : "="
    }

    private static func order(_ a: String, _ b: String, _ connection: PostgresConnection) async throws -> String? {
        let sql = "SELECT (ARRAY['<', '=', '>'])[version_compare($1, $2) + 2]"
        return try await connection.query(sql, [a, b]).value(as: String?.self)
    }

    @Test("The page orders versions as SQL and the engine do")
    func ordersVersions() async throws {
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("first", "", "second", "because") {
            let (first, second) = (row["first"].value, row["second"].value)
            #expect(Self.order(first, second) == row[""].value, "\(row)")
            #expect(try await Self.order(first, second, connection) == row[""].value, "\(row)")
        }
        for row in try Self.rows("written", "because") {
            #expect(AppVersion(row["written"].value) == nil, "\(row)")
            #expect(try await Self.order(row["written"].value, "1", connection) == nil, "\(row)")
        }
        let block = try #require(try MarkdownBlock.all(in: Self.cases).first { $0.language == "text" })
        let versions = block.text.split(separator: "\n").map(String.init)
        #expect(versions.count > 10)
        for (first, second) in zip(versions, versions.dropFirst()) {
            #expect(Self.order(first, second) == "<", "\(first), \(second)")
            #expect(try await Self.order(first, second, connection) == "<", "\(first), \(second)")
        }
    }

    @Test("The page says what ranges mean, in the words of the program, and what they match in SQL and in the engine")
    func explainsRanges() async throws {
        let connection = try await TestDatabase.current.connect()
        let rows = try Self.rows("range", "in words", "matches", "does not match")
        #expect(rows.count >= 25)
        for row in rows {
            let range = try #require(VersionRange(row["range"].value), "\(row)")
            #expect(range.inWords == row["in words"].text, "\(row)")
            #expect(!row["matches"].codes.isEmpty && !row["does not match"].codes.isEmpty, "\(row)")
            for (column, isMatch) in [("matches", true), ("does not match", false)] {
                for version in row[column].codes {
                    #expect((AppVersion(version).map(range.contains) ?? false) == isMatch, "\(version): \(row)")
                    let sql = try await connection.query("SELECT version_matches($1, $2)", [version, range.text])
                    #expect(try sql.value(as: Bool.self) == isMatch, "\(version): \(row)")
                }
            }
        }
        for row in try Self.rows("range", "remark") {
            #expect(VersionRange(row["range"].value)?.remarks == [row["remark"].value], "\(row)")
        }
    }

    @Test("The page has the messages and hints of ranges that are refused")
    func explainsRefusedRanges() async throws {
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("range", "message", "hint") {
            let range = row["range"].value
            #expect(VersionRange(range) == nil, "\(row)")
            let sql = await #expect(throws: PostgresError.self, "\(row)") {
                try await connection.query("SELECT version_matches('1', $1)", [range])
            }
            #expect(sql?.message == "not a version range: \(row["message"].value)", "\(row)")
            #expect(sql?.hint == row["hint"].value, "\(row)")
        }
    }
}

// MARK: - What clients send

extension RulesPageTests {
    @Test("The page reads platforms, regions and languages as SQL and the engine do")
    func readsClients() async throws {
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("sent", "read as") {
            #expect(Platform(row["sent"].value).name == row["read as"].value, "\(row)")
            let sql = try await connection.query("SELECT versiongate_internal.platform_name($1)", [row["sent"].value])
            #expect(try sql.value(as: String.self) == row["read as"].value, "\(row)")
        }
        for row in try Self.rows("sent", "country", "because") {
            #expect((Region(locale: row["sent"].value)?.code ?? "none") == row["country"].value, "\(row)")
            let sql = try await connection.query(
                "SELECT coalesce(versiongate_internal.country_of_region($1), 'none')",
                [row["sent"].value]
            )
            #expect(try sql.value(as: String.self) == row["country"].value, "\(row)")
        }
        for row in try Self.rows("rule", "client", "holds") {
            let (range, tag, holds) = (row["rule"].value, row["client"].value, row["holds"].text == "yes")
            #expect(LanguageTag(tag).matches(LanguageTag(range)) == holds, "\(row)")
            let sql = try await connection.query(
                "SELECT versiongate_internal.language_matches(versiongate_internal.language_tag($1), ARRAY[$2])",
                [tag, range]
            )
            #expect(try sql.value(as: Bool.self) == holds, "\(row)")
        }
    }

    @Test("The page has the attributes that meet a condition in SQL")
    func comparesAttributes() async throws {
        try await writePolicy()
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("attributes of the rule", "client sends", "holds") {
            let attributes = row["attributes of the rule"].value
            let client = "{\"bundle\": \"com.example.doto\", \(row["client sends"].value)}"
            let outcome = try await connection.transaction(deciding: { session -> PostgresTransactionEnd<String> in
                try session.query("UPDATE rules SET attributes = $1::jsonb WHERE key = 'news'", [attributes])
                let sql = "SELECT outcome FROM explain_check($1::jsonb) WHERE key = 'news'"
                return .rollback(try session.query(sql, [client]).value(as: String.self))
            })
            #expect(outcome == (row["holds"].text == "yes" ? "sent" : "no match"), "\(row)")
        }
    }

    @Test("The page chooses translations as SQL and the engine do")
    func choosesTranslations() async throws {
        try await writePolicy()
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("client", "translations", "sent") {
            let translations = row["translations"].codes
            let client = row["client"].value
            let sent = row["sent"].codes.first
            let index = LanguageTag(client).lookup(in: translations.map { LanguageTag($0) })
            #expect(index.map { translations[$0] } == sent, "\(row)")
            let title = try await connection.transaction(deciding: { session -> PostgresTransactionEnd<String> in
                for language in translations {
                    try session.query("INSERT INTO rule_texts VALUES ('news', $1, $1, 'x')", [language])
                }
                let sql = """
                    SELECT title
                      FROM messages_for(jsonb_build_object('bundle', 'com.example.doto', 'language', $1::text))
                     WHERE id = 'news'
                    """
                return .rollback(try session.query(sql, [client]).value(as: String.self))
            })
            #expect(title == sent ?? "News", "\(row)")
        }
    }
}

// MARK: - Rollout

extension RulesPageTests {
    @Test("The page computes buckets as SQL and the engine do")
    func computesBuckets() async throws {
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("key", "install", "first four bytes", "as a number", "bucket", "reached from") {
            let (key, install) = (row["key"].value, row["install"].value)
            let sql = try await connection.query(
                """
                SELECT rollout_bucket($1, $2)::int8,
                    encode(substring(sha256(convert_to($1 || ':' || $2, 'UTF8')) FOR 4), 'hex')
                """,
                [key, install]
            )
            let bucket = try sql[0].decode(0, as: Int.self)
            #expect(row["bucket"].text == "\(bucket)", "\(row)")
            #expect(try sql[0].decode(1, as: String.self) == row["first four bytes"].value, "\(row)")
            let number = try #require(UInt32(row["first four bytes"].value, radix: 16))
            #expect(row["as a number"].text.replacing(",", with: "") == "\(number)" && Int(number % 10_000) == bucket)
            #expect(Bucket(key: key, install: UTF8Text(install)).number == bucket, "\(row)")
            let least = try #require(Percentage(hundredths: bucket + 1))
            #expect(row["reached from"].text == "\(least) %", "\(row)")
        }
    }

    @Test("The page has the rollout that steps bring about")
    func followsSteps() async throws {
        try await writePolicy()
        let steps = try Self.rows("at", "rollout").map { row in
            "INSERT INTO rollout_steps VALUES ('news', '\(row["at"].value)', \(row["rollout"].text.dropLast(2)))"
        }
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("check at", "rollout") {
            let time = row["check at"].value
            let rollout = try await connection.transaction(deciding: { session -> PostgresTransactionEnd<String> in
                try session.execute("UPDATE rules SET rollout = 5 WHERE key = 'news'")
                for step in steps { try session.execute(step) }
                let sql = "SELECT rollout_at('news', $1::timestamptz)::text"
                return .rollback(try session.query(sql, [time]).value(as: String.self))
            })
            #expect("\(rollout) %" == row["rollout"].text, "\(row)")
        }
    }

    @Test("The page has commands that print what it shows")
    func hasTrueSamples() async throws {
        try await writePolicy()
        let samples = try MarkdownBlock.all(in: Self.page).filter { $0.language == "console" }.flatMap(\.samples)
        #expect(samples.count >= 3)
        for sample in samples {
            let result = try await BuiltBinary(.current).shell(
                "versiongate() { \"$VERSIONGATE\" \"$@\"; }\n\(sample.command)"
            )
            #expect(
                result.output.trimmingCharacters(in: .newlines) == sample.output.trimmingCharacters(in: .newlines),
                "\(sample.command)\n\(result.errors)"
            )
        }
    }
}

// MARK: - Columns, refusals, warnings

extension RulesPageTests {
    /// The columns of a table in the database: name, type, default.
    private static func columns(of table: PolicyTable, _ connection: PostgresConnection) async throws -> [[String]] {
        try await connection.query(
            """
            SELECT a.attname::text, replace(format_type(a.atttypid, NULL), 'timestamp with time zone', 'timestamptz'),
                CASE WHEN a.attidentity <> '' THEN 'given'
                    WHEN d.adbin IS NOT NULL THEN pg_get_expr(d.adbin, d.adrelid)
                    WHEN a.attnotnull THEN 'required' ELSE 'null' END
            FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE a.attrelid = 'public.\(table.rawValue)'::regclass AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY a.attnum
            """
        ).map { row in try (0..<3).map { try row.decode($0, as: String.self) } }
    }

    @Test("The page has every column of the policy: its type and its default")
    func hasColumns() async throws {
        let connection = try await TestDatabase.current.connect()
        for table in PolicyTable.allCases {
            let headings = ["column", "type", "default", "meaning"]
            let rows = try MarkdownTable.rows(headings, in: Self.page, section: table.rawValue)
            let written = rows.map { [$0["column"].value, $0["type"].value, $0["default"].value] }
            #expect(try await Self.columns(of: table, connection) == written)
        }
    }

    /// The row whose columns are written, by the table.
    private static let writtenRows = [
        "rules": "key = 'news'", "apps": "true", "releases": "version = '1.2'", "store_links": "true",
    ]

    /// A statement that writes a value, given as SQL, into a column.
    private static func write(_ value: String, into column: String) -> String {
        if column == "apps.bundle" { return "INSERT INTO apps (bundle) VALUES (\(value))" }
        if column == "rules.key" { return "INSERT INTO rules (key, title, text) VALUES (\(value), 't', 'x')" }
        let names = column.components(separatedBy: ".")
        return "UPDATE \(names[0]) SET \(names[1]) = \(value) WHERE \(writtenRows[names[0]] ?? "false")"
    }

    /// Tries an edit as an admin does, up to what a commit tests.
    private func attempt(_ statements: String) async throws -> TestDatabase.PsqlResult {
        try await TestDatabase.current.psql(
            "BEGIN;\n\(statements);\nSET CONSTRAINTS ALL IMMEDIATE;\nROLLBACK;\n",
            user: "versiongate_admin"
        )
    }

    @Test("The page has the messages of values and edits that are refused")
    func hasRefusals() async throws {
        try await writePolicy()
        for row in try Self.rows("column", "value", "message") {
            let (column, value) = (row["column"].value, row["value"].value)
            let isSQL = value == "NULL" || value.hasPrefix("U&'")
            let literal = isSQL ? value : "'\(value.replacing("'", with: "''"))'"
            let result = try await attempt(Self.write(literal, into: column))
            #expect(!result.isSuccess, "\(row)")
            #expect(result.errors.contains("ERROR:  \(column): \(row["message"].value)\n"), "\(row)\n\(result.errors)")
        }
        for row in try Self.rows("edit", "message") {
            let result = try await attempt(row["edit"].value)
            #expect(!result.isSuccess, "\(row)")
            #expect(result.errors.contains("ERROR:  \(row["message"].value)\n"), "\(row)\n\(result.errors)")
        }
    }

    @Test("The page has the warnings of edits that are probably not meant")
    func hasWarnings() async throws {
        try await writePolicy()
        for row in try Self.rows("edit", "warning") {
            let result = try await attempt(row["edit"].value)
            #expect(result.isSuccess, "\(row)\n\(result.errors)")
            #expect(result.errors.contains("WARNING:  \(row["warning"].value)\n"), "\(row)\n\(result.errors)")
        }
    }

    @Test("The page has each refusal and each warning of the cases, and no others")
    func listsMessages() throws {
        func isLike(_ message: String, _ listed: String) -> Bool {
            var rest = message[...]
            for part in listed.components(separatedBy: "...").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                guard let range = rest.range(of: part) ?? (part.isEmpty ? rest.startIndex..<rest.startIndex : nil)
                else {
                    return false
                }
                rest = rest[range.upperBound...]
            }
            return true
        }
        let refused = try Self.rows("column", "value", "message") + Self.rows("edit", "message")
        let warned = try Self.rows("edit", "warning")
        for (listed, messages) in [
            (try Self.rows("error", "when").map(\.["error"].value), refused.map(\.["message"].value)),
            (try Self.rows("warning", "meaning").map(\.["warning"].value), warned.map(\.["warning"].value)),
        ] {
            for message in messages {
                #expect(listed.contains { isLike(message, $0) }, "\(message) is not on the page")
            }
            for entry in listed { #expect(messages.contains { isLike($0, entry) }, "\(entry) is no message") }
        }
    }

    /// The limits of the page: the column, the limit, a value that is accepted and one that is not, as SQL.
    private static let limits: [(column: String, limit: String, accepted: String, refused: String)] = [
        ("rules.key", "64 characters", "repeat('a', 64)", "repeat('a', 65)"),
        ("apps.bundle", "255 characters", "repeat('a', 255)", "repeat('a', 256)"),
        (
            "releases.version", "128 bytes, likewise `build`, `min_os` and `target`", "repeat('1', 128)",
            "repeat('1', 129)"
        ),
        (
            "rules.versions", "10,000 bytes, likewise `builds` and `os`", "'1' || repeat(' || 1', 1999)",
            "'1' || repeat(' || 1', 2000)"
        ),
        (
            "rules.platforms", "500 items, likewise `regions` and `languages`",
            "(SELECT array_agg('p' || i) FROM generate_series(1, 500) AS i)",
            "(SELECT array_agg('p' || i) FROM generate_series(1, 501) AS i)"
        ),
        ("store_links.platform", "64 characters", "repeat('a', 64)", "repeat('a', 65)"),
        (
            "rules.languages", "64 bytes an item", "ARRAY['de' || repeat('-abcdefg', 7)]",
            "ARRAY['de' || repeat('-abcdefg', 8)]"
        ),
        (
            "rules.attributes", "64 names",
            "(SELECT jsonb_object_agg('a' || i, ARRAY['x']) FROM generate_series(1, 64) AS i)",
            "(SELECT jsonb_object_agg('a' || i, ARRAY['x']) FROM generate_series(1, 65) AS i)"
        ),
        (
            "rules.attributes", "128 bytes a name", "jsonb_build_object(repeat('a', 128), ARRAY['x'])",
            "jsonb_build_object(repeat('a', 129), ARRAY['x'])"
        ),
        (
            "rules.attributes", "1,024 bytes a value", "jsonb_build_object('a', ARRAY[repeat('a', 1024)])",
            "jsonb_build_object('a', ARRAY[repeat('a', 1025)])"
        ),
        (
            "rules.attributes", "65,536 bytes in all",
            "(SELECT jsonb_object_agg('a' || i, ARRAY[repeat('a', 1010)]) FROM generate_series(10, 73) AS i)",
            "(SELECT jsonb_object_agg('a' || i, ARRAY[repeat('a', 1020)]) FROM generate_series(10, 73) AS i)"
        ),
        ("rules.soak", "36,500 days", "'36500 days'", "'36500 days 1 second'"),
        ("rules.remind", "36,500 days", "'36500 days'", "'36500 days 1 second'"),
        ("rules.shows", "1,000", "1000", "1001"),
        (
            "rules.starts_at", "the end of the year 9999, likewise all times", "'9999-12-31T23:59:59Z'",
            "'10000-01-01T00:00:00Z'"
        ),
        ("rules.title", "200 characters, likewise `apps.name`", "repeat('a', 200)", "repeat('a', 201)"),
        ("rules.text", "4,000 characters", "repeat('a', 4000)", "repeat('a', 4001)"),
        ("rules.link", "2,048 bytes", "'https://' || repeat('a', 2040)", "'https://' || repeat('a', 2041)"),
        ("rules.note", "10,000 bytes", "repeat('a', 10000)", "repeat('a', 10001)"),
        ("rules.position", "2,147,483,647, and at least -2,147,483,648", "'-2147483648'", "'2147483648'"),
    ]

    @Test("The page has the limits of the columns, to the byte")
    func hasLimits() async throws {
        try await writePolicy()
        let rows = try Self.rows("column", "at most").map { [$0["column"].value, $0["at most"].text] }
        #expect(rows == Self.limits.map { [$0.column, $0.limit] })
        for (column, limit, accepted, refused) in Self.limits {
            let most = try await attempt(Self.write(accepted, into: column))
            #expect(most.isSuccess, "\(column), \(limit): \(most.errors)")
            let more = try await attempt(Self.write(refused, into: column))
            #expect(!more.isSuccess, "\(column), \(limit)")
        }
    }
}

// MARK: - Explanations

extension RulesPageTests {
    /// What is said of a rule in a check: by SQL, by the engine, and in a sentence.
    private struct Trial: Sendable {
        let explanations: [[String: String]]
        let sentence: String?
    }

    /// The client of the page with what cells change: `os=14`, or without `os`.
    private static func client(_ cells: MarkdownTable.Cell..., bundle: String? = nil) -> ClientDescription {
        var members = Self.members
        if let bundle { members["bundle"] = bundle }
        for code in cells.flatMap(\.codes) {
            let parts = code.split(separator: "=", maxSplits: 1).map(String.init)
            members[parts[0]] = parts.count == 2 ? parts[1] : nil
        }
        var client: ClientDescription = [:]
        for name in members.keys.sorted() {
            if let value = members[name] { client.append(name, .text(value)) }
        }
        return client
    }

    /// What a check comes to after edits that are taken back.
    private static func trial(
        of key: String,
        _ client: ClientDescription,
        after edits: [String],
        at time: String = Self.time,
        on connection: PostgresConnection
    ) async throws -> Trial {
        let moment = try #require(Timestamp(time))
        return try await connection.transaction(deciding: { session -> PostgresTransactionEnd<Trial> in
            for edit in edits { try session.execute(edit) }
            let names = ["outcome", "condition", "expected", "actual", "release"]
            let sql = """
                SELECT outcome, coalesce(condition, ''), coalesce(expected, ''), coalesce(actual, ''),
                    coalesce(release, '')
                  FROM explain_check($1::jsonb, $2::timestamptz) WHERE key = $3
                """
            var fromSQL = ["outcome": "not asked"]
            if let row = try session.query(sql, [client.json, time, key]).first {
                for (index, name) in names.enumerated() { fromSQL[name] = try row.decode(index, as: String.self) }
            }
            let described = try client.client()
            let policy = try CompiledPolicy(try PolicyReader.policy(session))
            let explanation = policy.explain(described, at: moment).first { $0.key == key }
            var fromEngine = ["outcome": "not asked"]
            if let explanation {
                let values = [
                    explanation.outcome.rawValue, explanation.condition, explanation.expected, explanation.actual,
                    explanation.release,
                ]
                for (name, value) in zip(names, values) { fromEngine[name] = value ?? "" }
            }
            let sentence = explanation?.sentence(for: described) { time in
                "\(time) (\(time.distance(from: moment) ?? ""))"
            }
            return .rollback(Trial(explanations: [fromSQL, fromEngine], sentence: sentence))
        })
    }

    /// Compares what a row says with what SQL and the engine say, in all columns that it has.
    private static func compare(_ row: MarkdownTable.Row, with trial: Trial) {
        for explanation in trial.explanations {
            for (column, value) in explanation where row.cells[column] != nil {
                #expect(row[column].value == value, "\(column): \(row)\n\(explanation)")
            }
        }
    }

    private static func edit(_ table: String, set cell: MarkdownTable.Cell, where condition: String) -> [String] {
        guard let code = cell.codes.first else { return [] }
        return [code.hasPrefix("UPDATE ") ? code : "UPDATE \(table) SET \(code) WHERE \(condition)"]
    }

    @Test("The page has the columns and outcomes of explanations")
    func hasOutcomes() async throws {
        let connection = try await TestDatabase.current.connect()
        let columns = try await connection.query(
            """
            SELECT argument.name, format_type(argument.type, NULL)
              FROM pg_proc, unnest(proargnames, proallargtypes, proargmodes) WITH ORDINALITY
                   AS argument(name, type, mode, place)
             WHERE proname = 'explain_check' AND argument.mode = 't'
             ORDER BY argument.place
            """
        ).map { row in try (0..<2).map { try row.decode($0, as: String.self) } }
        #expect(try Self.rows("column", "type", "meaning").map { [$0["column"].value, $0["type"].value] } == columns)
        let outcomes = try Self.rows("outcome", "meaning", "condition").map(\.["outcome"].value)
        #expect(outcomes == Explanation.Outcome.allCases.map(\.rawValue))
    }

    @Test("The page shows each condition that fails, in the order in which they are tested, and its sentence")
    func explainsConditions() async throws {
        try await writePolicy()
        let connection = try await TestDatabase.current.connect()
        let sentence = "versiongate check --explain prints"
        let rows = try Self.rows("condition", "news has", "client", "expected", "actual", sentence)
        var names: [String] = []
        for row in rows where names.last != row["condition"].value { names.append(row["condition"].value) }
        #expect(names == Condition.allCases.map { $0 == .attributes ? "attributes.channel" : $0.rawValue })
        let edits = { (row: MarkdownTable.Row) in Self.edit("rules", set: row["news has"], where: "key = 'news'") }
        for row in rows {
            let client = Self.client(row["client"])
            let trial = try await Self.trial(of: "news", client, after: edits(row), on: connection)
            Self.compare(row, with: trial)
            #expect(trial.sentence == row[sentence].value, "\(row)")
        }
        // No time is before the start of a rule and after its end.
        let pairs = zip(rows, rows.dropFirst()).filter { first, second in
            first["condition"].value != second["condition"].value && first["condition"].value != "starts_at"
        }
        for (first, second) in pairs {
            let client = Self.client(first["client"], second["client"])
            let both = edits(second) + edits(first)
            let trial = try await Self.trial(of: "news", client, after: both, on: connection)
            for explanation in trial.explanations {
                #expect(explanation["condition"] == first["condition"].value, "\(first)\n\(second)")
            }
        }
    }

    @Test("The page has what becomes of a target and of a lockout, release by release")
    func explainsReleases() async throws {
        try await writePolicy()
        let connection = try await TestDatabase.current.connect()
        let targets = try Self.rows("release 1.2", "rule", "client", "outcome", "expected", "actual", "release")
        let lockouts = try Self.rows("release 1.2", "rule", "client", "outcome", "actual", "release")
        for (key, rows) in [("update-1.2", targets), ("bad-1.1", lockouts)] {
            for row in rows {
                let edits =
                    Self.edit("releases", set: row["release 1.2"], where: "version = '1.2'")
                    + Self.edit("rules", set: row["rule"], where: "key = '\(key)'")
                let client = Self.client(row["client"])
                Self.compare(row, with: try await Self.trial(of: key, client, after: edits, on: connection))
            }
        }
        let labels = try Self.rows("release", "meaning").map(\.["release"].value)
        let shown = (targets + lockouts).map(\.["release"].value)
        for label in labels { #expect(shown.contains(label), "no row has the release \(label)") }
    }

    @Test("The page has what becomes of rules that start and end, are in order, and are for every app")
    func explainsOrder() async throws {
        try await writePolicy()
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("starts_at", "ends_at", "check at", "outcome") {
            let times = ["starts_at", "ends_at"].map { "\($0) = \(row[$0].codes.first.map { "'\($0)'" } ?? "NULL")" }
            let edit = "UPDATE rules SET \(times.joined(separator: ", ")) WHERE key = 'news'"
            let time = row["check at"].value
            Self.compare(
                row,
                with: try await Self.trial(of: "news", Self.client(), after: [edit], at: time, on: connection)
            )
        }
        let rules = try Self.rows("key", "position", "final", "enabled", "outcome", "condition", "actual")
        let inserts = rules.map { row in
            """
            INSERT INTO rules (key, bundle, position, final, enabled, title, text) VALUES ('\(row["key"].value)',
            'com.example.doto', \(row["position"].text), \(row["final"].value), \(row["enabled"].value), 't', 'x')
            """
        }
        for row in rules {
            let edits = ["DELETE FROM rules"] + inserts
            let trial = try await Self.trial(of: row["key"].value, Self.client(), after: edits, on: connection)
            Self.compare(row, with: trial)
        }
        for row in try Self.rows("bundle of news", "app", "bundle of the client", "outcome") {
            let bundle = row["bundle of news"].value
            let edits =
                ["UPDATE rules SET bundle = \(bundle == "NULL" ? bundle : "'\(bundle)'") WHERE key = 'news'"]
                + Self.edit("apps", set: row["app"], where: "true")
            let client = Self.client(bundle: row["bundle of the client"].value)
            Self.compare(row, with: try await Self.trial(of: "news", client, after: edits, on: connection))
        }
    }

    /// The text and the link of a message after edits that are taken back: of SQL, and of the engine.
    private static func messages(
        of key: String,
        _ client: ClientDescription,
        after edits: [String],
        on connection: PostgresConnection
    ) async throws -> [[String?]] {
        let moment = try #require(Timestamp(time))
        return try await connection.transaction(deciding: { session -> PostgresTransactionEnd<[[String?]]> in
            for edit in edits { try session.execute(edit) }
            let row = try session.query(
                "SELECT text, link FROM messages_for($1::jsonb, $2::timestamptz) WHERE id = $3",
                [client.json, Self.time, key]
            )[0]
            let policy = try CompiledPolicy(try PolicyReader.policy(session))
            let message = policy.messages(for: try client.client(), at: moment).first { $0.id == key }
            let fromSQL = [try row.decode(0, as: String?.self), try row.decode(1, as: String?.self)]
            return .rollback([fromSQL, [message?.text, message?.link]])
        })
    }

    @Test("The page has the members that hints become, in their order")
    func hasHints() async throws {
        try await writePolicy()
        let connection = try await TestDatabase.current.connect()
        let moment = try #require(Timestamp(Self.time))
        for row in try Self.rows("hints of update-1.2", "client", "members") {
            // With another text, as some rows have no target to fill in.
            let edit = """
                UPDATE rules SET text = 'x', \(row["hints of update-1.2"].value) WHERE key = 'update-1.2'
                """
            let client = Self.client(row["client"])
            let policy = try await connection.transaction(deciding: { session -> PostgresTransactionEnd<Policy> in
                try session.execute(edit)
                return .rollback(try PolicyReader.policy(session))
            })
            let answer = try CompiledPolicy(policy).answer(to: client.client(), at: moment)
            let body = String(decoding: answer.body, as: UTF8.self)
            let link = #""text":"x","link":"https://apps.apple.com/app/id123456789""#
            let after = try #require(body.components(separatedBy: link).last?.prefix { $0 != "}" })
            let members = row["members"].codes.first.map { ",\($0)" } ?? ""
            #expect(after == members || after == #","lockout":true"# && members.isEmpty, "\(row): \(body)")
        }
    }

    @Test("The page fills in texts and links as SQL and the engine do")
    func fillsInTexts() async throws {
        try await writePolicy()
        let connection = try await TestDatabase.current.connect()
        for row in try Self.rows("text of update-1.2", "name of the app", "sent") {
            let text = row["text of update-1.2"].value.replacing("'", with: "''")
            let edits = [
                "UPDATE rules SET text = '\(text)' WHERE key = 'update-1.2'",
                "UPDATE apps SET name = \(row["name of the app"].value)",
            ]
            let messages = try await Self.messages(of: "update-1.2", Self.client(), after: edits, on: connection)
            for message in messages { #expect(message[0] == row["sent"].value, "\(row)") }
        }
        for row in try Self.rows("link of news", "client", "sent") {
            let edit = "UPDATE rules SET link = \(row["link of news"].value) WHERE key = 'news'"
            let client = Self.client(row["client"])
            let messages = try await Self.messages(of: "news", client, after: [edit], on: connection)
            for message in messages { #expect(message[1] == row["sent"].codes.first, "\(row)") }
        }
    }
}

import Foundation
import PolicyStore
import Postgres
import TestDatabase
import TestPolicies
import TestSystem
import Testing
import UpdatePolicy

/// Holds the tables of the reference of rules to the database, to the cases, and to the tables that they are made from.
@Suite("Rules page", .migratedDatabase)
struct RulesPageTests {
    private static let page = "Documentation/Rules.md"

    private static func rows(_ columns: String..., section: String? = nil) throws -> [MarkdownTable.Row] {
        try MarkdownTable.rows(columns, in: page, section: section)
    }

    // MARK: - What is made

    /// The tables of the page that are made from rows of meanings: the first line, and the cells of each row.
    private static let made: [(table: String, heading: String, cells: @Sendable (MeaningTable.Row) -> [String])] = [
        (
            "order", "| first | | second | because |",
            { row in row["versions"].split(separator: " ").map { "`\($0)`" } + [row["because"]] }
        ),
        (
            "range", "| range | in words | matches | does not match |",
            { row in
                let lists = ["matches", "does not match"].map { column in
                    row.texts(column).map { "`\($0)`" }.joined(separator: ", ")
                }
                return ["`\(row["range"])`", row["in words"]] + lists
            }
        ),
        ("limit", "| column | at most |", { row in ["`\(row["column"])`", row["at most"]] }),
    ]

    @Test("The page shows the rows of meanings that are marked for it; VERSIONGATE_UPDATE=1 writes them")
    func showsMeanings() throws {
        let url = RepositoryFile.url(Self.page)
        let writes = ProcessInfo.processInfo.environment["VERSIONGATE_UPDATE"]?.isEmpty == false
        var lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        for (table, heading, cells) in Self.made {
            let start = try #require(lines.firstIndex(of: heading), "\(heading)") + 2
            let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
            let rows = try MeaningTable.rows(table).filter(\.isOnPage).map { row in
                "| \(cells(row).map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
            }
            try #require(rows.count >= 5, "\(table)")
            if !writes { #expect(Array(lines[start..<end]) == rows) }
            lines.replaceSubrange(start..<end, with: rows)
        }
        if writes { try lines.joined(separator: "\n").write(to: url, atomically: true, encoding: .utf8) }
    }

    // MARK: - What the database has

    @Test("The page has every column of the policy: its type and its default")
    func hasColumns() async throws {
        let connection = try await TestDatabase.current.connect()
        for table in PolicyTable.allCases {
            let columns = try await connection.query(
                """
                SELECT a.attname::text,
                    replace(format_type(a.atttypid, NULL), 'timestamp with time zone', 'timestamptz'),
                    CASE WHEN a.attidentity <> '' THEN 'given'
                        WHEN d.adbin IS NOT NULL THEN pg_get_expr(d.adbin, d.adrelid)
                        WHEN a.attnotnull THEN 'required' ELSE 'null' END
                FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                WHERE a.attrelid = 'public.\(table.rawValue)'::regclass AND a.attnum > 0 AND NOT a.attisdropped
                ORDER BY a.attnum
                """
            ).map { row in try (0..<3).map { try row.decode($0, as: String.self) } }
            let rows = try Self.rows("column", "type", "default", "meaning", section: table.rawValue)
            #expect(rows.map { [$0["column"].value, $0["type"].value, $0["default"].value] } == columns)
        }
    }

    @Test("The page has the columns and outcomes of explanations")
    func hasOutcomes() async throws {
        let columns = try await TestDatabase.current.connect().query(
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

    // MARK: - What the cases have

    /// What the cases answer behind a word such as `ERROR:`.
    private static func messages(_ word: String) throws -> Set<String> {
        let answers = try Transcript.names.flatMap { try Transcript($0).cases.flatMap(\.steps).flatMap(\.answer) }
        return Set(answers.compactMap { line in line.range(of: "\(word):  ").map { String(line[$0.upperBound...]) } })
    }

    /// Whether a message is one that the page lists, where `...` stands for what differs.
    private static func isLike(_ message: String, _ listed: String) -> Bool {
        var rest = message[...]
        for part in listed.components(separatedBy: "...").map({ $0.trimmingCharacters(in: .whitespaces) })
        where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    @Test("Each refusal and each warning of the page is in a case, and each warning of a case is on the page")
    func listsMessages() throws {
        let (refusals, warnings) = (try Self.messages("ERROR"), try Self.messages("WARNING"))
        let listed = try Self.rows("warning", "meaning").map(\.["warning"].value)
        for entry in try Self.rows("error", "when").map(\.["error"].value) {
            #expect(refusals.contains { Self.isLike($0, entry) }, "\(entry) is refused in no case")
        }
        for entry in listed {
            #expect(warnings.contains { Self.isLike($0, entry) }, "\(entry) is no warning of a case")
        }
        // That one is PostgreSQL's.
        for message in warnings where !message.hasPrefix("no privileges") {
            #expect(listed.contains { Self.isLike(message, $0) }, "\(message) is not on the page")
        }
    }
}

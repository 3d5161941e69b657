import Postgres
import TestDatabase
import TestRandom
import Testing

@Suite("SQL page", .whole, .migratedDatabase)
struct SQLPageTests {
    private static let page = "Documentation/SQL.md"

    @Test("The page has SQL that does what it says, one after the other, and shows what psql answers")
    func runs() async throws {
        let blocks = try MarkdownBlock.all(in: Self.page)
        #expect(blocks.filter { $0.language.hasPrefix("sql") }.count >= 20)
        for (number, block) in blocks.enumerated() where block.language.hasPrefix("sql") {
            let next = blocks.dropFirst(number + 1).first
            let shown = next?.language == "" ? next?.text : nil
            let result = try await TestDatabase.current.psql(
                "SET TimeZone = 'UTC';\n\(block.text)",
                user: "versiongate_admin"
            )
            if block.language != "sql" {
                #expect(result.isSuccess == (block.language == "sql warned"), "\(block.text)")
                for line in try #require(shown).split(separator: "\n") {
                    #expect(result.errors.contains(line), "\(block.text)\n\(result.errors)")
                }
            } else {
                #expect(result.isSuccess && result.errors.isEmpty, "\(block.text)\n\(result.errors)")
                #expect(result.output == shown ?? "", "\(block.text)")
            }
        }
    }

    @Test("The page has every table and view that somebody may read, with the rights of each role, and its columns")
    func hasTables() async throws {
        let owner = try await TestDatabase.current.connect()
        let rights = ["server", "viewer", "brake", "planner", "admin"].map { role in
            """
            CASE WHEN has_table_privilege('versiongate_\(role)', oid, 'SELECT') THEN 'r' ELSE '' END
                || CASE WHEN has_table_privilege('versiongate_\(role)', oid, 'INSERT')
                    THEN '\(role == "planner" ? "p" : "w")' ELSE '' END
            """
        }
        let tables = try await owner.query(
            """
            SELECT relname::text, \(rights.joined(separator: ", ")) FROM pg_class
             WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
               AND has_table_privilege('versiongate_viewer', oid, 'SELECT')
            """
        ).map { row in try (0..<6).map { try row.decode($0, as: String.self) } }
        let rows = try MarkdownTable.rows(
            ["table or view", "server", "viewer, brake", "planner", "admin", "what it has"],
            in: Self.page
        )
        let written = rows.map { row in
            ["table or view", "server", "viewer, brake", "viewer, brake", "planner", "admin"].map { row[$0].value }
        }
        #expect(Set(written) == Set(tables))
        for row in try MarkdownTable.rows(["table or view", "columns"], in: Self.page) {
            let columns = try await owner.query(
                """
                SELECT attname::text FROM pg_attribute
                 WHERE attrelid = 'public.\(row["table or view"].value)'::regclass AND attnum > 0 AND NOT attisdropped
                 ORDER BY attnum
                """
            ).map { try $0.decode(0, as: String.self) }
            #expect(row["columns"].codes == columns, "\(row)")
        }
    }

    @Test("The page has every function for people: its arguments, its result, and who may call it")
    func hasFunctions() async throws {
        let owner = try await TestDatabase.current.connect()
        let functions = try await owner.query(
            """
            SELECT format('%s(%s)', proname, pg_get_function_arguments(p.oid)), pg_get_function_result(p.oid),
                CASE WHEN has_function_privilege('versiongate_viewer', p.oid, 'EXECUTE') THEN 'yes' ELSE 'no' END,
                CASE WHEN has_function_privilege('versiongate_brake', p.oid, 'EXECUTE') THEN 'yes' ELSE 'no' END,
                CASE WHEN has_function_privilege('versiongate_planner', p.oid, 'EXECUTE') THEN 'yes' ELSE 'no' END,
                CASE WHEN has_function_privilege('versiongate_admin', p.oid, 'EXECUTE') THEN 'yes' ELSE 'no' END
              FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace
            """
        ).map { row in
            try (0..<6).map { index in
                try row.decode(index, as: String.self).replacing("timestamp with time zone", with: "timestamptz")
            }
        }
        let columns = ["function", "result", "viewer", "brake", "planner", "admin"]
        let rows = try MarkdownTable.rows(columns + ["what it does"], in: Self.page)
        #expect(Set(rows.map { row in columns.map { row[$0].value } }) == Set(functions))
    }
}

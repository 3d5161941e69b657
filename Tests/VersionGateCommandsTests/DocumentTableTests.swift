import CheckListener
import Foundation
import Postgres
import TestDatabase
import TestRandom
import TestSystem
import Testing

@testable import VersionGateCommands

/// Tables of the documentation that say what the database, the server or the program has.
@Suite("Tables of documents", .whole)
struct DocumentTableTests {
    @Test(
        "The page of SQL has every table and view that somebody may read, with the rights of each role, and its columns",
        .migratedDatabase)
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
            in: "Documentation/SQL.md"
        )
        let written = rows.map { row in
            ["table or view", "server", "viewer, brake", "viewer, brake", "planner", "admin"].map { row[$0].value }
        }
        #expect(Set(written) == Set(tables))
        for row in try MarkdownTable.rows(["table or view", "columns"], in: "Documentation/SQL.md") {
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

    @Test(
        "The page of SQL has every function for people: its arguments, its result, and who may call it",
        .migratedDatabase)
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
        let rows = try MarkdownTable.rows(columns + ["what it does"], in: "Documentation/SQL.md")
        #expect(Set(rows.map { row in columns.map { row[$0].value } }) == Set(functions))
    }

    // MARK: HTTP

    private static let http = "Documentation/HTTP.md"

    @Test("The page of HTTP has each status of a problem")
    func hasProblems() throws {
        let onPage = try MarkdownTable.rows(["status", "when"], in: Self.http).map { Int($0["status"].value) }
        #expect(Set(onPage) == Set(ProblemStatus.allCases.filter { $0 != .unavailable }.map(\.code)))
    }

    @Test(
        "The page of HTTP names each member of the management listener, with a database and without", .migratedDatabase)
    func hasMembers() async throws {
        // A server on a database that is not there starts at once and has no policy.
        for url in [
            TestDatabase.current.url(user: "versiongate_server"),
            "postgresql://127.0.0.1:1/nothing?connect_timeout=2",
        ] {
            try await ServingBinary.run(BuiltBinary(environment: ["DATABASE_URL": url])) { server in
                for path in ["/ready", "/policy"] {
                    let tables = try MarkdownTable.all(in: Self.http).filter { $0.section == path }
                    let named = Set(tables.flatMap(\.rows).flatMap { $0["member"].codes })
                    let body = Data(try await server.management(path).body.utf8)
                    let document = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
                    let counting = document["counting"] as? [String: Any] ?? [:]
                    #expect(Set(document.keys).union(counting.keys).subtracting(named).isEmpty, "\(path)")
                }
            }
        }
    }

    // MARK: Troubleshooting

    /// The sources, with texts that stand on several lines joined.
    private static func sources() throws -> String {
        var text = ""
        for folder in ["Sources", "Migrations", "script"] {
            let paths = FileManager.default.enumerator(atPath: RepositoryFile.url(folder).path)
            while let path = paths?.nextObject() as? String {
                guard folder == "script" || path.hasSuffix(".swift") || path.hasSuffix(".sql"),
                    let file = try? String(contentsOf: RepositoryFile.url("\(folder)/\(path)"), encoding: .utf8)
                else { continue }
                for line in file.components(separatedBy: "\n") { add(line, to: &text) }
            }
        }
        return text.replacingOccurrences(of: #"\""#, with: "\"")
    }

    private static func add(_ line: String, to text: inout String) {
        let line = line.trimmingCharacters(in: .whitespaces)
        if line.hasPrefix("+ \""), text.hasSuffix("\"") {
            text.removeLast()
            text += line.dropFirst(3)
        } else if text.hasSuffix("\\") {
            text.removeLast()
            text += line
        } else if line.hasPrefix("'"), text.hasSuffix("'") {
            text.removeLast()
            text += line.dropFirst()
        } else {
            text += "\n" + line
        }
    }

    @Test("The page of troubleshooting quotes messages that the program has")
    func quotesMessages() throws {
        // Code of three words or more.
        let messages = try MarkdownTable.all(in: "Documentation/Troubleshooting.md").flatMap(\.rows)
            .flatMap { $0["what you see"].codes }.filter { $0.components(separatedBy: " ").count > 2 }
        #expect(messages.count >= 50)
        let sources = try Self.sources()
        for message in messages {
            for part in message.components(separatedBy: "...") where !part.isEmpty {
                #expect(sources.contains(part.trimmingCharacters(in: .whitespaces)), "\(message)")
            }
        }
    }
}

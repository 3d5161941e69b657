import PolicyStore
import Postgres
import TestDatabase
import Testing

/// Writes that the database must refuse, whoever makes them, with a message that names the fault and a hint.
@Suite("Refusals", .migratedDatabase)
struct RefusalTests {
    /// A statement, and what its refusal must say.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let column: String?
        let message: String
        let hint: String

        /// A rule with one column of its own.
        init(rule column: String, _ value: String, message: String, hint: String) {
            testDescription = "rules.\(column) = \(value)"
            sql = "INSERT INTO rules (key, title, text, \(column)) VALUES ('k', 't', 'x', \(value))"
            self.column = column
            self.message = message
            self.hint = hint
        }

        init(_ sql: String, column: String?, message: String, hint: String) {
            testDescription = sql
            self.sql = sql
            self.column = column
            self.message = message
            self.hint = hint
        }
    }

    static let refusals: [Refusal] = [
        Refusal(rule: "versions", "'<1..2'", message: "1..2", hint: ""),
        Refusal(rule: "versions", "''", message: "versions", hint: "NULL"),
        Refusal(rule: "versions", "' '", message: "versions", hint: "NULL"),
        Refusal(rule: "versions", "'1.2-1.4'", message: "1.2-1.4", hint: "spaces"),
        Refusal(rule: "versions", "'>=1,<2'", message: ",", hint: "space"),
        Refusal(rule: "versions", "'!=1.2'", message: "!=", hint: ""),
        Refusal(rule: "versions", "'1.2 (45)'", message: "(45)", hint: ""),
        Refusal(rule: "versions", "'1.3x'", message: "1.3x", hint: "1.3.x"),
        Refusal(rule: "versions", "'1.x.3'", message: "1.x.3", hint: ""),
        Refusal(rule: "versions", "'||1.2'", message: "||", hint: ""),
        Refusal(rule: "versions", "'1.2 ||'", message: "||", hint: ""),
        Refusal(rule: "versions", "'>2 <1'", message: ">2 <1", hint: ""),
        Refusal(rule: "versions", "'<*'", message: "<*", hint: ""),
        Refusal(rule: "builds", "'<1..2'", message: "builds", hint: ""),
        Refusal(rule: "os", "'>=1,<2'", message: "os", hint: ""),
        Refusal(rule: "regions", "'{Japan}'", message: "Japan", hint: "JP"),
        Refusal(rule: "regions", "'{jp}'", message: "jp", hint: "JP"),
        Refusal(rule: "regions", "'{UK}'", message: "UK", hint: "GB"),
        Refusal(rule: "regions", "'{EN}'", message: "EN", hint: ""),
        Refusal(rule: "regions", "'{}'", message: "regions", hint: "NULL"),
        Refusal(rule: "platforms", "'{}'", message: "platforms", hint: "NULL"),
        Refusal(rule: "platforms", "'{NULL}'", message: "platforms", hint: "NULL"),
        Refusal(rule: "platforms", "'{{ios},{android}}'", message: "platforms", hint: ""),
        Refusal(rule: "languages", "'{}'", message: "languages", hint: "NULL"),
        Refusal(rule: "attributes", "'{}'", message: "attributes", hint: "NULL"),
        Refusal(rule: "attributes", "'null'", message: "attributes", hint: "NULL"),
        Refusal(rule: "attributes", #"'{"a":[]}'"#, message: "a", hint: ""),
        Refusal(rule: "attributes", #"'{"a":"beta"}'"#, message: "a", hint: "list"),
        Refusal(rule: "attributes", #"'{"install":["x"]}'"#, message: "install", hint: ""),
        Refusal(rule: "link", "'javascript:alert(1)'", message: "javascript", hint: "https"),
        Refusal(rule: "rollout", "101", message: "101", hint: "100"),
        Refusal(rule: "rollout", "-1", message: "-1", hint: ""),
        Refusal(rule: "rollout", "99.996", message: "99.996", hint: "two decimals"),
        Refusal(rule: "rollout", "33.335", message: "33.335", hint: "two decimals"),
        Refusal(rule: "rollout", "'NaN'", message: "NaN", hint: ""),
        Refusal(rule: "rollout", "NULL", message: "rollout", hint: ""),
        Refusal(rule: "starts_at", "'infinity'", message: "starts_at", hint: "NULL"),
        Refusal(rule: "ends_at", "'infinity'", message: "ends_at", hint: "NULL"),
        Refusal(rule: "soak", "'1 month'", message: "soak", hint: ""),
        Refusal(rule: "soak", "'-1 day'", message: "soak", hint: ""),
        Refusal(rule: "remind", "'0'", message: "no time at all", hint: "NULL"),
        Refusal(rule: "remind", "'1 month'", message: "months", hint: "30 days"),
        Refusal(rule: "remind", "'1.5 seconds'", message: "fraction", hint: "whole seconds"),
        Refusal(rule: "shows", "0", message: "0 is not from 1 to 1000", hint: "NULL"),
        Refusal(rule: "shows", "1001", message: "1001", hint: "no limit"),
        Refusal(rule: "bundle", "'com.example.nothing'", message: "com.example.nothing", hint: "app"),
        Refusal(rule: "target", "'1.2'", message: "target", hint: "bundle"),
        Refusal(
            "INSERT INTO rules (key, title, text) VALUES ('k', '', 'x')", column: "title", message: "title", hint: ""
        ),
        Refusal(
            "INSERT INTO rules (key, title, text) VALUES ('Upper', 't', 'x')", column: "key", message: "Upper", hint: ""
        ),
        Refusal(
            "INSERT INTO rules (key, title, text) VALUES ('k', E'a\\tb', 'x')", column: "title", message: "title",
            hint: ""
        ),
        Refusal(
            "INSERT INTO rules (key, title, text) VALUES ('k', 't', 'x {target}')", column: "text", message: "{target}",
            hint: ""
        ),
        Refusal(
            "INSERT INTO rules (key, title, text) VALUES ('k', 't', 'until {date}')", column: "text",
            message: "{date} in a rule without an end", hint: "Set ends_at, or take {date} out."
        ),
        Refusal(
            """
            INSERT INTO rules (key, title, text, starts_at, ends_at)
            VALUES ('k', 't', 'x', '2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z')
            """,
            column: "ends_at",
            message: "ends_at",
            hint: ""
        ),
    ]

    @Test("A wrong write is refused with the way to do it where TRUNCATE is tried by the owner")
    func refusesTruncate() async throws {
        let owner = try await TestDatabase.current.connect()
        let error = await #expect(throws: PostgresError.self) { try await owner.execute("TRUNCATE rules CASCADE") }
        #expect(error?.message.contains("cannot be truncated") == true)
        #expect(error?.hint?.contains("DELETE") == true)
    }

    @Test("A wrong write is refused with a message, a hint, the column and the constraint")
    func refuses() async throws {
        let admin = try await TestDatabase.current.connect(user: "versiongate_admin")
        for refusal in Self.refusals {
            let what = refusal.testDescription
            let error = await #expect(throws: PostgresError.self, "\(what)") {
                try await admin.execute(refusal.sql)
            }
            #expect(error?.code == .server, "\(what)")
            let text = [error?.message, error?.detail].compactMap { $0 }.joined(separator: "\n")
            #expect(text.contains(refusal.message), "\(what): \(text)")
            #expect(error?.hint?.contains(refusal.hint) == true, "\(what): \(text)\n\(error?.hint ?? "no hint")")
            if let column = refusal.column { #expect(error?.column == column, "\(what)") }
            #expect(try await admin.query("SELECT count(*) FROM rules").value(as: Int.self) == 0, "\(what)")
        }
    }

    @Test("The database and the program know the same faults")
    func faults() async throws {
        let connection = try await TestDatabase.current.connect()
        let names = try await connection.query(
            "SELECT unnest(enum_range(NULL::versiongate_internal.fault))::text"
        ).map { try $0.decode(0, as: String.self) }
        #expect(names.sorted() == PolicyFault.Kind.allCases.map(\.rawValue).sorted())
    }
}

import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("What a change did, in words")
struct ChangeFormatterTests {
    private static func row(_ key: String, _ columns: (String, String?, String?)...) -> PolicyChange.Row {
        PolicyChange.Row(
            table: "rules", key: key, kind: .changed,
            columns: columns.map { PolicyChange.Column(name: $0, before: $1, after: $2) }
        )
    }

    @Test(
        "The values of a column that alone was changed are told, of each of a few rows",
        arguments: [
            ([row("a", ("rollout", "10", "50"))], "changed rule a: rollout 10 -> 50"),
            ([row("a", ("ends_at", nil, "2026-11-22T14:05:00Z"))], "changed rule a: ends_at"),
            ([row("a", ("title", "a", "b"), ("text", "c", "d"))], "changed rule a: title, text"),
            (
                [
                    row("a", ("enabled", "false", "true")), row("b", ("title", "a", "b"), ("text", "c", "d")),
                    row("c", ("regions", #"["DE","AT"]"#, nil)),
                ], "changed rule a (enabled false -> true), rule b, rule c (regions DE, AT -> (none))"
            ),
        ]
    )
    func values(rows: [PolicyChange.Row], words: String) {
        let change = PolicyChange(
            id: 1, at: Timestamp(secondsSince1970: 0), role: "anna", osUser: nil, tool: nil, why: nil, undoes: nil,
            rows: rows, counts: [PolicyChange.Count(table: "rules", kind: .changed, rows: rows.count)]
        )
        #expect(ChangeFormatter.summary(change, hasValues: true).plain == words)
    }
}

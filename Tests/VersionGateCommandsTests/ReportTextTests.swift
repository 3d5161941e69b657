import PolicyStore
import Reports
import Testing
import UpdatePolicy

@testable import VersionGateCommands

@Suite("Reports as text")
struct ReportTextTests {
    private static let now = Timestamp("2026-01-01T12:00:00Z")!
    private static let columns = [
        Column<Int64>("Rule", isName: true) { .link("r\($0)", .rule("r\($0)")) },
        Column("Status") { .tag($0 == 1 ? "on" : "ended", $0 == 1 ? .alert : .off) },
        Column("Rollout", silent: "100 %") { _ in .percentage(.all) },
        Column("Who") { .text($0 == 1 ? "a\u{1B}" : nil) },
        Column(nil, json: "x") { .count($0) },
    ]
    private static let report = Report(
        at: now,
        [
            .heading("Heading", id: "h"), .text("Since \(timeAndDistance: now.advanced(byMicroseconds: -60_000_000))."),
            .fields([Report.Field("name", .lines(["a", "b"])), Report.Field("nothing", .text(nil))]),
            .table(Table("Rules", caption: "All.", ifEmpty: "none", [1, 2], columns: columns)),
            .table(Table(ifEmpty: "No rule.", [], columns: columns)),
            .table(Table(ifEmpty: "No rule.", nil, columns: columns)),
            .note(Report.Note(.warning, "it is off", remedy: "GRANT x;")),
            .edits([Report.Edit("Turn it on", command: "rule enable a", sql: "UPDATE")]),
        ]
    )

    @Test(
        "Columns that say nothing and what only programs read are left out, and what steers a terminal is written out")
    func text() {
        let time = TimeText.local(Self.now.advanced(byMicroseconds: -60_000_000))
        #expect(
            Self.report.text(on: .file) == """
                Heading
                Since \(time) (1 min ago).

                name  a
                      b

                Rules. All.
                RULE  STATUS  WHO
                r1    on      a\\u{1b}
                r2    ended   -

                No rule.

                Warning: it is off GRANT x;

                Turn it on: \(PrintedCommand("rule enable a"))
                """
        )
    }

    @Test("Tags have colours where there are some")
    func colours() {
        let text = Self.report.text(on: Terminal(width: 80, usesColor: true))
        #expect(text.contains("\u{1B}[31mon\u{1B}[0m") && text.contains("\u{1B}[2mended\u{1B}[0m"))
    }
}

import PolicyStore
import Reports
import Testing
import UpdatePolicy

@Suite("Reports")
struct ReportTests {
    private static let now = Timestamp("2026-01-01T12:00:00Z")!
    private static let earlier = Timestamp("2026-01-01T11:59:00Z")!

    private static let columns = [
        Column<Int64>("Name", json: "name", isName: true) { .link("r\($0)", .rule("r\($0)")) },
        Column("Checks", json: "checks") { .count($0 * 1_000) }, Column("Only for people") { _ in .text("x") },
        Column(nil, json: "only_for_programs") { _ in .flag(nil) },
    ]

    @Test("A sentence has times, commands and subjects as data")
    func sentences() {
        let sentence: Sentence =
            "\("lock", .rule("lock")) has blown at \(time: Self.earlier), \(distance: Self.earlier). To arm it: \(command: "undo 5")\(aside: nil)"
        #expect(
            sentence.segments == [
                .link("lock", .rule("lock")), .text(" has blown at "), .time(Self.earlier), .text(", "),
                .distance(Self.earlier), .text(". To arm it: "), .command(PrintedCommand.text("undo 5")),
            ]
        )
        #expect(
            sentence.text(at: Self.now) { _ in "T" }
                == "lock has blown at T, 1 min ago. To arm it: \(PrintedCommand("undo 5"))"
        )
        #expect(["a", "b"].joined(separator: ", ") as Sentence == Sentence([.text("a"), .text(", "), .text("b")]))
    }

    @Test("Programs get the fields and tables that have a name for them, and of a list the array")
    func json() {
        let fields = [
            Report.Field("time", json: "time", .sentence("\(time: Self.earlier)", json: Self.earlier)),
            Report.Field("for people", .text("x")), Report.Field(nil, json: "role", .text(nil)),
        ]
        let report = Report(
            at: Self.now,
            [
                .heading("H", id: "h"), .fields(fields), .text("x"), .note(Report.Note(.hint, "x")),
                .table(Table(json: "rules", ifEmpty: "none", [1, 2], columns: Self.columns)),
                .table(Table(json: "unknown", ifEmpty: "none", nil, columns: Self.columns)),
                .table(Table(ifEmpty: "none", [3], columns: Self.columns)),
                .edits([Report.Edit("Undo", command: "undo 1")]),
            ]
        )
        #expect(
            report.json.text == #"{"time":"2026-01-01T11:59:00Z","role":null,"rules":["#
                + #"{"name":"r1","checks":1000,"only_for_programs":null},{"name":"r2","checks":2000,"only_for_programs":null}],"#
                + #""unknown":null}"#
        )
        let list = Report(at: Self.now, Table(ifEmpty: "none", [1], columns: Self.columns))
        #expect(list.json.text == #"[{"name":"r1","checks":1000,"only_for_programs":null}]"#)
    }
}

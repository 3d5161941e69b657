import TestDatabase
import Testing

/// What only somebody on a terminal sees of an undo; the rest is in `Tests/Cases/commands/undo.case`.
@Suite("Undo", .migratedDatabase)
struct UndoCommandTests {
    @Test("An undo without a number shows the newest change and asks; with --yes it does not")
    func asks() async throws {
        let versiongate = BuiltBinary(.current)
        try await versiongate.run("rule add k --title one --text X")
        let terminal = try await TerminalSession(versiongate)
        defer { terminal.end() }
        try terminal.type("versiongate undo\n")
        let shown = try await terminal.expect("? [y/N] ")
        #expect(shown.contains("The newest change: 1  ") && shown.contains("added rule k\n"), "\(shown)")
        #expect(shown.contains("This undoes change 1."), "\(shown)")
        try terminal.type("\n")
        try await terminal.expect("nothing was changed, as the answer was not y")
        try await terminal.expect(TerminalSession.prompt)
        #expect(try await TestDatabase.current.revision() == 1)
        let approved = try await terminal.run("versiongate undo --yes")
        #expect(approved.status == 0 && approved.output.contains("Removed rule k\n"), "\(approved.output)")
    }
}

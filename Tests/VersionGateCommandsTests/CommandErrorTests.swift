import Testing

@testable import PolicyStore
@testable import VersionGateCommands

@Suite("Command errors")
struct CommandErrorTests {
    @Test("A migration that waited in vain says for whom, and what to do")
    func migrationWaits() {
        let edit = OpenEdit(processID: 42, role: "anna", application: "psql", mayBeEnded: true)
        let waits = "a migration waited for others who use the tables that it changes; it changed nothing"
        #expect(
            CommandError.waits(for: [edit], migrates: true, database: "d").description == """
                \(waits): process 42 of anna (psql)
                Hint: Migrate again when they are done, or end it: SELECT pg_terminate_backend(42)
                """
        )
        let other = OpenEdit(processID: 42, role: "anna", application: "", mayBeEnded: false)
        #expect(
            CommandError.waits(for: [other], migrates: true, database: "d").description == """
                \(waits): process 42 of anna
                Hint: Migrate again when they are done, or let anna or a superuser end it: SELECT pg_terminate_backend(42)
                """
        )
        let prepared = OpenEdit(processID: nil, prepared: "it's", role: "anna", application: "", mayBeEnded: false)
        #expect(
            CommandError.waits(for: [prepared], migrates: true, database: "d").description == """
                \(waits): the prepared transaction it's of anna
                Hint: Migrate again when they are done, or let anna or a superuser end it: ROLLBACK PREPARED 'it''s'
                """
        )
        #expect(
            CommandError.waits(for: [], migrates: true, database: "d").description
                == "\(waits)\nHint: Migrate again when they are done"
        )
    }

    @Test("An edit that waits for one whose commit waits for a standby is not told to end it")
    func waitsForStandby() {
        let edit = OpenEdit(
            processID: 42, role: "anna", application: "psql", mayBeEnded: true, waitsForStandby: true
        )
        #expect(
            CommandError.waits(for: [edit], database: "d").description == """
                somebody else is editing the same rows: process 42 of anna (psql), whose commit waits for a standby; \
                nothing was changed on d; try again when they are done
                """
        )
        #expect(!CommandError.waits(for: [edit], migrates: true, database: "d").description.contains("terminate"))
    }
}

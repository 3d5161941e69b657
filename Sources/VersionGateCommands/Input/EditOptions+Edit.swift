import ArgumentParser
import Foundation
import PolicyStore
import Postgres
import UpdatePolicy

extension EditOptions {
    /// Who edits, as the history records it beside the database role.
    var author: EditAuthor { EditAuthor(osUser: Self.osUser(CommandContext.current.environment), why: why) }

    /// Makes one edit, prints what changed and how to undo it, and prints the warnings of the database.
    ///
    /// An edit that affects what clients get shows its impact first. If it newly locks out more than a few clients, or an
    /// unknown number, it needs approval.
    ///
    /// - Parameters:
    ///   - database: Where the policy is.
    ///   - asksAboutRemovals: Whether removals and withdrawals need approval, whatever their impact.
    ///   - asksAboutMassEdits: Whether edits of a great part of the rows of an app need approval.
    ///   - doubts: Why something else may be meant, from what the database has; each needs approval.
    ///   - body: Changes the rows; called again after a rollback for the review.
    ///   - remarks: Warnings for after the edit. If they cannot be read, none is printed.
    ///   - summary: What is so after the edit, also where it changed nothing. If it cannot be read, nothing is printed.
    func edit(
        on database: DatabaseOptions,
        asksAboutRemovals: Bool = false,
        asksAboutMassEdits: Bool = false,
        doubts: @escaping @Sendable (PostgresSession) throws -> [String] = { _ in [] },
        _ body: @Sendable (PolicyEditor) throws -> Void,
        remarks: (@Sendable (PostgresSession) throws -> [String])? = nil,
        summary: (@Sendable (PostgresSession) throws -> String?)? = nil
    ) async throws {
        try await edit(
            on: database, asksAboutRemovals: asksAboutRemovals, asksAboutMassEdits: asksAboutMassEdits, doubts: doubts,
            values: { _ in }, { editor, _ in try body(editor) }, remarks: remarks, summary: summary
        )
    }

    /// Makes one edit as ``edit(on:asksAboutRemovals:doubts:_:remarks:)`` does, with values that depend on the clock of the database.
    ///
    /// - Parameters:
    ///   - tool: The name of the tool in the history. A tool works by itself: it says nothing where nothing changes.
    ///   - values: Makes the values, once.
    func edit<Values: Sendable>(
        on database: DatabaseOptions,
        as tool: String? = nil,
        asksAboutRemovals: Bool = false,
        asksAboutMassEdits: Bool = false,
        doubts: @escaping @Sendable (PostgresSession) throws -> [String] = { _ in [] },
        values: @Sendable (CommandClock) throws -> Values,
        _ body: @Sendable (PolicyEditor, Values) throws -> Void,
        remarks: (@Sendable (PostgresSession) throws -> [String])? = nil,
        summary: (@Sendable (PostgresSession) throws -> String?)? = nil
    ) async throws {
        let warnings = EditWarnings(massEdits: !asksAboutMassEdits || dryRun ? .meant : yes ? .printed : .asked)
        if dryRun { return try await rehearse(on: database, isQuiet: tool != nil, warnings, values, body) }
        let author = author
        let (report, found, words) = try await database.withConnection(as: .admin, onNotice: warnings.print) {
            connection,
            logger,
            name in
            if let tool { try await connection.execute("SET application_name = \(PostgresIdentifier(tool))") }
            let editing = PolicyEditing(connection, logger: logger)
            let (values, doubts) = try await editing.prepare(commits: true) { session in
                (try values(CommandClock(session)), try doubts(session))
            }
            let edit = EditApproval(
                connection: connection, editing: editing, database: name, yes: yes, warnings: warnings,
                asksAboutRemovals: asksAboutRemovals, asksAboutMassEdits: asksAboutMassEdits, doubts: doubts
            )
            let change = try await edit.make(by: author) { editor in try body(editor, values) }
            let report = ChangeReport(change: change, database: name)
            let found = if let remarks { try? await connection.withSession(remarks) } else { [String]?.none }
            let words = if let summary { try? await connection.withSession(summary) } else { String?.none }
            return (report, found ?? [], words)
        }
        if tool == nil || report.change != nil { print(report.text) }
        if let words { print(Terminal.standardOutput.paragraphs(words.visible())) }
        for line in found { printError(Terminal.standardError.paragraphs(line.visible()) + "\n") }
    }

    /// Makes the edit, rolls it back, and prints what it would change.
    private func rehearse<Values: Sendable>(
        on database: DatabaseOptions,
        isQuiet: Bool,
        _ warnings: EditWarnings,
        _ values: @Sendable (CommandClock) throws -> Values,
        _ body: @Sendable (PolicyEditor, Values) throws -> Void
    ) async throws {
        let report = try await database.withConnection(as: .admin, onNotice: warnings.print) {
            connection,
            logger,
            name in
            let name = name.visible()
            let editing = PolicyEditing(connection, logger: logger)
            let values = try await editing.prepare(commits: false) { session in try values(CommandClock(session)) }
            let outcome = try await editing.rehearse { editor in try body(editor, values) }
            var base: PolicyVersion?
            var impact: EditImpact?
            var audiences: [String: String] = [:]
            switch outcome {
            case .unchanged, .made: break
            case .rehearsed(_, let state): base = state
            case .needsReview(let edit, let before):
                base = edit.base
                audiences = PlanReport.audiences(before: before.rules, after: edit.after.rules)
                impact = try await EditImpact(of: edit, before: before, connection)
            }
            return PlanReport(
                revision: base?.revision, change: outcome.change, impact: impact,
                unchanged: "Nothing would change on \(name): the policy is like that already.",
                ending: "Nothing was changed on \(name): this was a dry run.", audiences: audiences,
                terminal: .standardOutput
            )
        }
        if !isQuiet || report.change != nil { print(report.text) }
    }

    /// The operating system's user for the history: under sudo, who called it.
    ///
    /// Only root is believed to say who called: anybody else could set the variable, and may as well not. It stays a claim.
    static func osUser(_ environment: [String: String], isRoot: Bool = geteuid() == 0, userName: String = NSUserName())
        -> String
    {
        guard isRoot, let caller = environment["SUDO_USER"], !caller.isEmpty else { return userName }
        return caller
    }
}

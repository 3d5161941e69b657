import ArgumentParser
import Foundation
import PolicyStore
import Postgres
import UpdatePolicy

extension EditOptions {
    /// Makes one edit, prints what changed and how to undo it, and prints the warnings of the database.
    ///
    /// An edit that affects what clients get shows its impact first. If it newly locks out more than a few clients, or an
    /// unknown number, it needs approval.
    ///
    /// - Parameters:
    ///   - tool: The name of the tool in the history. A tool works by itself: it says nothing where nothing changes.
    ///   - asksAboutRemovals: Whether removals and withdrawals need approval, whatever their impact.
    ///   - asksAboutMassEdits: Whether edits of a great part of the rows of an app need approval.
    ///   - doubts: Why something else may be meant, from what the database has; each needs approval.
    ///   - values: Makes what depends on the clock of the database, once.
    ///   - body: Changes the rows; may be called several times.
    ///   - remarks: Warnings for after the edit. If they cannot be read, none is printed.
    ///   - summary: What is so after the edit, also where it changed nothing. If it cannot be read, nothing is printed.
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
        let author = EditAuthor(osUser: Self.osUser(CommandContext.current.environment), why: why)
        try await database.withConnection(as: .admin, onNotice: warnings.print) { connection, logger, name in
            if let tool { try await connection.execute("SET application_name = \(PostgresIdentifier(tool))") }
            let editing = PolicyEditing(connection, logger: logger)
            let (values, doubts) = try await editing.prepare(commits: !dryRun) { session in
                (try values(CommandClock(session)), dryRun ? [] : try doubts(session))
            }
            if dryRun {
                let edit = try await editing.dryRun { try body($0, values) }
                if tool == nil || edit != nil { print(try PlanReport(edit, on: name.visible()).text) }
                return
            }
            let approval = EditApproval(
                database: name, yes: yes, warnings: warnings, asksAboutRemovals: asksAboutRemovals, doubts: doubts
            )
            let change = try await editing.edit(
                by: author, reviewsAll: !yes && (asksAboutRemovals || asksAboutMassEdits || !doubts.isEmpty),
                review: approval.review
            ) { try body($0, values) }
            if tool == nil || change != nil { print(ChangeText.report(change, database: name)) }
            if let summary, let words = try? await connection.withSession(summary) {
                print(Terminal.standardOutput.paragraphs(words.visible()))
            }
            if let remarks, let lines = try? await connection.withSession(remarks) {
                for line in lines { printError(Terminal.standardError.paragraphs(line.visible()) + "\n") }
            }
        }
    }

    /// Makes one edit that does not depend on the clock.
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

extension PlanReport {
    /// What a command would change.
    fileprivate init(_ edit: DryRun?, on database: String) throws {
        self.init(
            revision: edit?.base.revision, change: edit?.change, impact: try edit?.reach.map { try EditImpact(of: $0) },
            unchanged: "Nothing would change on \(database): the policy is like that already.",
            ending: "Nothing was changed on \(database): this was a dry run.",
            audiences: Self.audiences(before: edit?.reach?.before.rules ?? [], after: edit?.reach?.after.rules ?? []),
            terminal: .standardOutput
        )
    }
}

import ArgumentParser
import Foundation
import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// The options that every command that edits takes, beside those of the database.
struct EditOptions: ParsableArguments {
    @Flag(help: "Approve removals and lockouts without a question, as scripts must.") var yes = false
    @Flag(help: "Show what would change and who it reaches, and change nothing.") var dryRun = false
    @Option("text", "Why this is done; kept in the history.") var why: String?

    /// Makes one edit, prints what changed and how to undo it, and prints the warnings of the database.
    ///
    /// An edit that affects what clients get shows its impact first. If it newly locks out more than a few clients, or an
    /// unknown number, it needs approval. What the parameters mean is said in ``EditVerb``.
    ///
    /// - Parameter tool: The name of the tool in the history. A tool works by itself: it says nothing where nothing changes.
    func edit<Values: Sendable>(
        on database: DatabaseOptions,
        as tool: String? = nil,
        asksAboutRemovals: Bool = false,
        asksAboutMassEdits: Bool = false,
        confirmations: @escaping @Sendable (PostgresSession) throws -> [String] = { _ in [] },
        values: @Sendable (CommandClock) throws -> Values,
        _ body: @Sendable (PolicyEditor, Values) throws -> Void,
        warnings: @escaping @Sendable (PostgresSession) throws -> [String] = { _ in [] },
        summary: @escaping @Sendable (PostgresSession) throws -> String? = { _ in nil }
    ) async throws {
        let notices = EditWarnings(massEdits: !asksAboutMassEdits || dryRun ? .meant : yes ? .printed : .asked)
        try await database.withConnection(as: .admin, onNotice: notices.print) { connection, logger, name in
            if let tool { try await connection.execute("SET application_name = \(PostgresIdentifier(tool))") }
            let editing = PolicyTransaction(connection, logger: logger)
            let (values, confirmations) = try await editing.prepare(commits: !dryRun) { session in
                (try values(CommandClock(session)), dryRun ? [] : try confirmations(session))
            }
            if dryRun {
                let edit = try await editing.dryRun { try body($0, values) }
                let report = try PlanReport(
                    edit, rules: edit?.reach.map { $0.before.rules + $0.after.rules } ?? [],
                    revision: edit?.base.revision,
                    unchanged: "Nothing would change on \(name.visible()): the policy is already like that.",
                    ending: "Nothing was changed on \(name.visible()): this was a dry run."
                )
                if tool == nil || edit != nil { print(report.text) }
                return
            }
            let change = try await editing.edit(
                by: EditAuthor(osUser: Self.osUser(CommandContext.current.environment), why: why),
                reviewsAll: !yes && (asksAboutRemovals || asksAboutMassEdits || !confirmations.isEmpty),
                review: { edit in
                    let reasons = confirmations + notices.takeQuestions().map { $0.visible() }
                    return try review(edit, reasons, asksAboutRemovals: asksAboutRemovals, on: name)
                }
            ) { try body($0, values) }
            if tool == nil || change != nil { print(ChangeText.report(change, database: name)) }
            // Where they cannot be read, the edit has been made all the same.
            if let words = try? await connection.withSession(summary) {
                print(Terminal.standardOutput.paragraphs(words.visible()))
            }
            for line in (try? await connection.withSession(warnings)) ?? [] {
                printError(Terminal.standardError.paragraphs(line.visible()) + "\n")
            }
        }
    }

    /// Shows whom an edit reaches, and asks where it may do harm; returns whether somebody was asked.
    private func review(_ edit: DryRun, _ reasons: [String], asksAboutRemovals: Bool, on database: String) throws
        -> Bool
    {
        var reasons = reasons
        if asksAboutRemovals, !yes, let removal = Removal(edit.change) {
            print(removal.text(database: database))
            if reasons.isEmpty || !Terminal.canAsk { reasons.append(removal.reason) }
        }
        if let reach = edit.reach {
            let impact = try EditImpact(of: reach)
            print(impact.report.text())
            if let reason = impact.approvalReason { reasons.append(reason) }
            for rule in reach.after.rules where edit.consent.contains(rule.key) {
                let end = rule.endsAt.map { ", until \(TimeText.local($0))" } ?? ", and has no end"
                let whom =
                    rule.bundle == nil
                    ? "locks out clients of every app" : "also locks out users who have no update\(end)"
                reasons.append("\(rule.key) \(whom)")
            }
        }
        return try Self.requireApproval(reasons, on: database, yes: yes)
    }

    /// Asks, where there are reasons and `--yes` was not given, and returns whether somebody was asked.
    @discardableResult
    static func requireApproval(_ reasons: [String], on database: String, yes: Bool) throws -> Bool {
        guard !reasons.isEmpty, !yes else { return false }
        let (reason, database) = (reasons.joined(separator: ", and "), database.visible())
        guard Terminal.canAsk else {
            throw CommandError(
                "\(reason); nothing was changed on \(database); if this is intended, repeat it with --yes")
        }
        guard Terminal.confirms("\(reason.prefix(1).uppercased())\(reason.dropFirst()).\nDo it on \(database)?") else {
            throw CommandError("cancelled; nothing was changed")
        }
        return true
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

/// Prints the warnings of the database on standard error, each once, even if an edit is tried several times, and keeps
/// those that are asked about.
final class EditWarnings: Sendable {
    /// What is done about edits of a great part of the rows of an app.
    enum MassEdits {
        /// The command says that they are meant, or shows them without making them.
        case meant
        case asked
        case printed
    }

    private let massEdits: MassEdits
    private let printed = Mutex<[String]>([])
    private let asked = Mutex<[String]>([])

    init(massEdits: MassEdits = .meant) { self.massEdits = massEdits }

    var lines: [String] { printed.withLock(\.self) }

    /// Why the edit that was tried last needs approval; asked for once.
    func takeQuestions() -> [String] {
        asked.withLock { questions in
            defer { questions = [] }
            return questions
        }
    }

    func print(_ notice: PostgresNotice) {
        guard notice.isWarning else { return }
        let isMassEdit = notice.constraint == "mass_edit" || notice.constraint == "mass_removal"
        if isMassEdit, massEdits == .meant { return }
        // A lockout whose way out came together with what it locks out. Removals are asked about as such.
        if notice.constraint == "rules_way_out_beside" || massEdits == .asked && notice.constraint == "mass_edit" {
            asked.withLock { if !$0.contains(notice.message) { $0.append(notice.message) } }
        }
        if isMassEdit, massEdits == .asked { return }
        let hint = CommandHint.cure(PolicyFault(notice.dataType), hint: notice.hint)
        let line = "Warning: \(notice.message)\(hint.map { " (\($0))" } ?? "")".visible()
        printed.withLock { lines in
            if lines.contains(line) { return }
            lines.append(line)
            printError(Terminal.standardError.paragraphs(line + "\n"))
        }
    }
}

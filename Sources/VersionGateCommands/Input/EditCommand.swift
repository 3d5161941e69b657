import ArgumentParser
import PolicyStore
import Postgres

/// What one command edits. What all commands that edit have in common is in ``EditCommand``.
protocol EditVerb: ParsableArguments, Sendable {
    associatedtype Values: Sendable

    static var configuration: CommandConfiguration { get }
    /// Whether removals and withdrawals need approval, whatever their impact.
    var asksAboutRemovals: Bool { get }
    /// Whether edits of a great part of the rows of an app need approval.
    var asksAboutMassEdits: Bool { get }

    /// Why something else may be meant, from what the database has; each needs approval.
    func confirmations(_ session: PostgresSession) throws -> [String]
    /// What depends on the clock of the database; made once.
    func values(_ clock: CommandClock) throws -> Values
    /// Changes the rows; called again after a rollback for the review.
    func edit(_ editor: PolicyEditor, _ values: Values) throws
    /// Warnings for after the edit.
    func warnings(_ session: PostgresSession) throws -> [String]
    /// What is so after the edit, also where it changed nothing.
    func summary(_ session: PostgresSession) throws -> String?
    /// What is printed below all.
    func notes(isDryRun: Bool) -> [String]
}

extension EditVerb {
    var asksAboutRemovals: Bool { false }
    var asksAboutMassEdits: Bool { false }

    func confirmations(_ session: PostgresSession) throws -> [String] { [] }
    func warnings(_ session: PostgresSession) throws -> [String] { [] }
    func summary(_ session: PostgresSession) throws -> String? { nil }
    func notes(isDryRun: Bool) -> [String] { [] }
}

extension EditVerb where Values == Void {
    func values(_ clock: CommandClock) throws {}
}

/// A command that makes one edit of the policy.
struct EditCommand<Verb: EditVerb>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Verb.configuration }

    @OptionGroup var verb: Verb
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(
            on: database, asksAboutRemovals: verb.asksAboutRemovals, asksAboutMassEdits: verb.asksAboutMassEdits,
            doubts: verb.confirmations, values: verb.values, verb.edit, remarks: verb.warnings, summary: verb.summary
        )
        verb.notes(isDryRun: options.dryRun).forEach { print($0) }
    }
}

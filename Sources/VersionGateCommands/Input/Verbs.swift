import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

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

struct EditCommand<Verb: EditVerb>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Verb.configuration }

    @OptionGroup var verb: Verb
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(
            on: database, asksAboutRemovals: verb.asksAboutRemovals, asksAboutMassEdits: verb.asksAboutMassEdits,
            confirmations: verb.confirmations, values: verb.values, verb.edit, warnings: verb.warnings,
            summary: verb.summary
        )
        verb.notes(isDryRun: options.dryRun).forEach { print($0) }
    }
}

/// What one command reads and shows. What all commands that read have in common is in ``ReadCommand``.
protocol ReadVerb: ParsableArguments, Sendable {
    static var configuration: CommandConfiguration { get }

    func report(_ reports: PolicyReports, as format: OutputFormat) throws -> Report
}

struct ReadCommand<Verb: ReadVerb>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Verb.configuration }

    @OptionGroup var verb: Verb
    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        output.print(try await database.read { try verb.report($0, as: output.format) })
    }
}

extension PolicyReports {
    var now: Timestamp { get throws { try CommandClock(session).now } }
    /// Which servers send lockouts as plain messages, if any.
    var brake: String? { get throws { ServerSession.brake(of: try ServerSession.all(session)) } }

    func warnOfUnknownApp(_ bundle: String?) throws {
        guard let bundle else { return }
        let bundles = try PolicyReader.bundles(session)
        if !bundles.contains(where: { ASCII.lowercased($0) == ASCII.lowercased(bundle) }) {
            try CommandError.noSuchApp(bundle, session).printAsWarning()
        }
    }

    func appWithTemplates(_ bundle: String) throws -> App {
        guard let app = try PolicyReader.policy(session, bundles: [bundle]).apps.first else {
            throw try CommandError.noSuchApp(bundle, session)
        }
        return app
    }
}

extension PolicyEditor {
    func edit(rule key: String, set values: [ColumnValue<Rule>] = []) throws {
        if try brake(key, values) || update(where: [.init(\.key, key)], set: values) > 0 { return }
        throw try CommandError.noSuchRule(key, session)
    }

    func edit(app bundle: String, set values: [ColumnValue<App>] = []) throws {
        if try brake(bundle, values) || update(where: [.init(\.bundle, bundle)], set: values) > 0 { return }
        throw try CommandError.noSuchApp(bundle, session)
    }
}

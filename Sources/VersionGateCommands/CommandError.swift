import PolicyStore
import Postgres
import PrivatePostgres
import UpdatePolicy

struct CommandError: Error, CustomStringConvertible {
    private let text: String

    /// The fault and what to do about it, broken at blanks on a terminal, where it stands behind ``label``.
    var description: String {
        String(Terminal.standardError.paragraphs(Self.label + text).dropFirst(Self.label.count))
    }

    /// What the argument parser prints before an error.
    static let label = "Error: "

    /// - Parameter description: Control characters in it, which may come from elsewhere, are written out.
    init(_ description: String) {
        text = description.visible(keepsNewlines: true)
    }

    func printAsWarning() { warn(text) }

    static func noSuchRule(_ key: String, _ session: PostgresSession) throws -> CommandError {
        if try PolicyReader.bundles(session).contains(key) {
            return CommandError(
                "\(key) is an app, but this command takes the key of a rule; `\(PrintedCommand("rule list --bundle \(key.shellWord)"))` shows its "
                    + "rules, and `\(PrintedCommand("stats \(key.shellWord)"))` its checks"
            )
        }
        return noSuch("rule", key, among: try PolicyReader.ruleKeys(session))
    }

    static func noSuchApp(_ bundle: String, _ session: PostgresSession) throws -> CommandError {
        let keys = try PolicyReader.ruleKeys(session)
        if keys.contains(bundle) {
            return CommandError(
                "\(bundle) is a rule, but this command takes the bundle of an app; `\(PrintedCommand("impact \(bundle)"))` shows whom "
                    + "the rule reaches, and `\(PrintedCommand("rule show \(bundle)"))` what it says"
            )
        }
        if let named = try PolicyReader.bundle(ofAppNamed: bundle, session) {
            return CommandError(
                "there is no app \(bundle), but \(named) has that name; an app is written by its bundle"
            )
        }
        return noSuchApp(bundle, among: try PolicyReader.bundles(session))
    }

    static func noSuchApp(_ bundle: String, among bundles: [String]) -> CommandError {
        noSuch("app", bundle, among: bundles)
    }

    private static func noSuch(_ noun: String, _ name: String, among names: [String]) -> CommandError {
        let cure = similar(to: name, among: names) ?? "`\(PrintedCommand("\(noun) list"))` lists the \(noun)s"
        return CommandError("there is no \(noun) \(name); \(cure)")
    }

    /// Asks for the names that are like one that there is not; nil: none is.
    static func similar(to name: String, among names: [String]) -> String? {
        let similar = SimilarNames.of(name, among: names).prefix(3).joined(separator: " or ")
        return similar.isEmpty ? nil : "did you mean \(similar)?"
    }

    /// Refuses the bundle of no app where another is surely meant: one spelled nearly like it, or the word behind it.
    static func requireMeantApp(_ bundle: String, version: String? = nil, _ session: PostgresSession) throws {
        let bundles = try PolicyReader.bundles(session)
        if bundles.contains(where: { ASCII.lowercased($0) == ASCII.lowercased(bundle) }) { return }
        if let version, bundles.contains(version) {
            let words = DatabaseWords(CommandContext.current.arguments).others
                .map { ($0 == bundle ? version : $0 == version ? bundle : $0).shellWord }
            throw CommandError(
                "there is no app \(bundle), and \(version) is one: the app comes first: "
                    + "\(PrintedCommand(words.joined(separator: " ")))"
            )
        }
        if !SimilarNames.of(bundle, among: bundles).isEmpty { throw noSuchApp(bundle, among: bundles) }
    }

    static func noCounts(of bundle: String?, days: Int) -> CommandError {
        let checks = bundle.map { "checks of \($0)" } ?? "checks"
        return CommandError(
            "no \(checks) were counted in the last \(days) days; servers count the checks that they "
                + "answer, unless --count-interval is 0, and write them every few seconds; a longer period may have some: --days \(min(days * 4, 3_660))"
        )
    }

    /// Runs `body`, and says errors of the database in words for people: the one place where that is done.
    static func explaining<Result>(
        waiting: () async throws -> CommandError? = { nil },
        writing: () async throws -> CommandError? = { nil },
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as PostgresError {
            switch error.sqlState {
            case .lockNotAvailable?, .deadlockDetected?: throw try await waiting() ?? CommandError(error)
            case .readOnlyTransaction?, .featureNotSupported?: throw try await writing() ?? CommandError(error)
            default: throw CommandError(error)
            }
        }
    }

    /// Other sessions hold what this one needs, and have not committed: the tables of a migration, or the rows of an edit.
    static func waits(for edits: [OpenEdit], migrates: Bool = false, database: String) -> CommandError {
        let who = edits.isEmpty ? "" : ": \(edits.map(\.words).joined(separator: ", "))"
        if migrates {
            return CommandError(
                "a migration waited for others who use the tables that it changes; it changed nothing\(who)\n"
                    + "Hint: Migrate again when they are done\(ending(edits))"
            )
        }
        let isCommitted = !edits.isEmpty && edits.allSatisfy(\.waitsForStandby)
        return CommandError(
            "somebody else is editing the same rows\(isCommitted ? "" : " and has not committed")\(who); "
                + "nothing was changed on \(database); try again when they are done"
                + (isCommitted ? "" : ", or end their edits as an admin: SELECT * FROM end_open_edits()")
        )
    }

    static func standby(_ database: String) -> CommandError {
        CommandError(
            "\(database) is a standby, which only reads; nothing was changed\n"
                + "Hint: Name the primary, or every host and target_session_attrs=read-write: "
                + "postgresql://USER@HOST,HOST/DATABASE?target_session_attrs=read-write"
        )
    }

    private static func ending(_ edits: [OpenEdit]) -> String {
        guard let first = edits.first(where: { !$0.waitsForStandby }) else { return "" }
        return first.mayBeEnded
            ? ", or end it: \(first.ending)"
            : ", or let \(first.role) or a superuser end it: \(first.ending)"
    }

    /// What PostgreSQL says of a row that is there already, in the language of the server, with the key in parentheses.
    private static func repeated(_ error: PostgresError) -> String? {
        let key = error.detail?.firstMatch(of: /=\((.*)\)/).map { String($0.1) } ?? "KEY"
        switch error.constraint {
        case "apps_pkey", "apps_bundle_key":
            return "there is already an app \(key); `\(PrintedCommand("app show \(key.shellWord)"))` shows it, and `"
                + "\(PrintedCommand("app edit \(key.shellWord) --name NAME --store-link ios=https://..."))` changes it"
        case "rules_pkey":
            return "there is already a rule \(key); `\(PrintedCommand("rule show \(key)"))` shows it, and `"
                + "\(PrintedCommand("rule edit \(key) --title TITLE --text TEXT"))` changes it; or choose another key"
        case "rule_texts_language_key":
            return "the rule already has a text in this language, spelled in another way; `"
                + "\(PrintedCommand("rule show KEY"))` lists its texts"
        case "release_notes_language_key":
            return "the release already has notes in this language, spelled in another way; "
                + "`\(PrintedCommand("release list"))` shows the languages"
        case "store_links_pkey":
            return "the app already has a link for this platform; "
                + "`\(PrintedCommand("app edit BUNDLE --store-link PLATFORM=URL"))` replaces it"
        case "release_tokens_pkey":
            return
                "there is already a token \(key); `\(PrintedCommand("token remove \(key)"))` ends it; or choose another name"
        case "rollout_steps_pkey": return "two steps are at the same time; leave one of them out"
        default: return nil
        }
    }

    /// A refusal of the database with its detail and hint, or how the database failed.
    init(_ error: PostgresError, isInFile: Bool = false) {
        switch error.code {
        case .server where error.sqlState == .insufficientPrivilege && (error.hint ?? "").isEmpty:
            self.init(
                "\(error.message); log in as a viewer to read, as a planner to plan or as an admin to edit (`"
                    + "\(PrintedCommand("user add NAME --role ROLE"))` adds such a user), or as the schema's owner to migrate"
            )
        case .server:
            let hint = CommandHint.cure(PolicyFault(error.dataType), hint: error.hint, isInFile: isInFile) ?? ""
            let lines = [error.message, error.detail ?? "", hint.isEmpty ? "" : "Hint: \(hint)"]
            self.init(Self.repeated(error) ?? lines.filter { !$0.isEmpty }.joined(separator: "\n"))
        case .connectionFailed:
            self.init(
                "the database cannot be reached: \(error.message)\(error.message.hasSuffix("?") ? "" : ".") To stop lockouts "
                    + "without it: `versiongate brake on`, on the machine of each server. Otherwise check --database-url, DATABASE_URL or PGSERVICE, and that PostgreSQL runs"
                    + (error.hint.map { "\nHint: \($0)" } ?? "")
            )
        default:
            self.init("the database failed: \(error)")
        }
    }
}

/// Prints a warning on standard error, where there is an answer all the same.
func warn(_ text: String) {
    printError(Terminal.standardError.paragraphs("Warning: \(text.visible(keepsNewlines: true))") + "\n")
}

/// What to do about a refusal or a warning of the database, for commands and policy files.
enum CommandHint {
    /// - Parameter hint: What the database says to those who use SQL.
    static func cure(_ fault: PolicyFault?, hint: String?, isInFile: Bool = false) -> String? {
        guard let fault, let command = fault.command else { return hint }
        guard let cure = isInFile ? fault.file ?? (command.contains("`") ? command : hint) : command else { return nil }
        let words = (fault.row ?? [:]).merging(fault.words ?? [:]) { $1 }
        let text = withCommands(cure) { words[$0] ?? nil }
        guard let hint = fault.hint, !hint.isEmpty else { return text }
        return "\(hint)\(hint.hasSuffix(".") ? "" : ".") \(text)"
    }

    /// A text with each command in backticks as it is typed, on this database.
    ///
    /// - Parameter value: A value by the name that stands for it in braces; without one it is named in capitals.
    static func withCommands(_ text: String, value: (String) -> String?) -> String {
        func filled(_ text: Substring, _ write: (_ value: String?, _ name: Substring) -> String) -> String {
            String(text).replacing(#/\{([a-z_]+)\}/#) { write(value(String($0.output.1)), $0.output.1) }
        }
        return text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2)
                ? filled(part) { $0 ?? "{\($1)}" }
                : "\(PrintedCommand(filled(part) { $0?.shellWord ?? $1.uppercased() }))"
        }.joined()
    }
}

import PolicyStore
import Postgres
import UpdatePolicy

extension CommandError {
    /// No checks are counted that could be judged.
    static func noCounts(of bundle: String?, days: Int) -> CommandError {
        let checks = bundle.map { "checks of \($0)" } ?? "checks"
        return CommandError(
            "no \(checks) were counted in the last \(days) days; servers count the checks that they "
                + "answer, unless --count-interval is 0, and write them every few seconds; a longer period may have some: --days \(min(days * 4, 3_660))"
        )
    }

    /// There is no rule of a name: what has that name, or one spelled nearly like it.
    static func noSuchRule(_ key: String, _ session: PostgresSession) throws -> CommandError {
        if try PolicyReader.bundles(session).contains(key) {
            return CommandError(
                "\(key) is an app, and this takes the key of a rule; `\(PrintedCommand("rule list --bundle \(key.shellWord)"))` shows its "
                    + "rules, and `\(PrintedCommand("stats \(key.shellWord)"))` its checks"
            )
        }
        return noSuchRule(key, among: try PolicyReader.ruleKeys(session))
    }

    /// There is no app of a name: what has that name, or one spelled nearly like it.
    static func noSuchApp(_ bundle: String, _ session: PostgresSession) throws -> CommandError {
        let keys = try PolicyReader.ruleKeys(session)
        if keys.contains(bundle) {
            return CommandError(
                "\(bundle) is a rule, and this takes the bundle of an app; `\(PrintedCommand("impact \(bundle)"))` shows whom "
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

    /// Refuses the bundle of no app where another is surely meant: one spelled nearly like it, or the word behind it.
    ///
    /// - Parameters:
    ///   - version: The word that stands behind the bundle.
    ///   - command: The command, whose first arguments they are.
    ///   - options: What stands behind them.
    static func requireMeantApp(
        _ bundle: String,
        version: String? = nil,
        of command: String = "",
        options: [String] = [],
        _ session: PostgresSession
    ) throws {
        let bundles = try PolicyReader.bundles(session)
        if bundles.contains(where: { ASCII.lowercased($0) == ASCII.lowercased(bundle) }) { return }
        if let version, bundles.contains(version) {
            throw CommandError(
                "there is no app \(bundle), and \(version) is one: the app comes first: "
                    + "\(PrintedCommand(([command] + ([version, bundle] + options).map(\.shellWord)).joined(separator: " ")))"
            )
        }
        if !SimilarNames.of(bundle, among: bundles).isEmpty { throw noSuchApp(bundle, among: bundles) }
    }

    /// There is no such rule, but some that are spelled nearly like it.
    static func noSuchRule(_ key: String, among keys: [String]) -> CommandError {
        let similar = SimilarNames.of(key, among: keys).prefix(3)
        guard !similar.isEmpty else { return noSuchRule(key) }
        return CommandError("there is no rule \(key); did you mean \(similar.joined(separator: " or "))?")
    }

    /// There is no such app, but some that are spelled nearly like it.
    static func noSuchApp(_ bundle: String, among bundles: [String]) -> CommandError {
        let similar = SimilarNames.of(bundle, among: bundles).prefix(3)
        guard !similar.isEmpty else { return noSuchApp(bundle) }
        return CommandError("there is no app \(bundle); did you mean \(similar.joined(separator: " or "))?")
    }
}

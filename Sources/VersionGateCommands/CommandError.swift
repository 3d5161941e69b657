import PolicyStore
import UpdatePolicy

/// An error of a command, with what the user can do about it.
struct CommandError: Error, CustomStringConvertible {
    private let text: String

    /// The fault and what to do about it, broken at blanks on a terminal, where it stands behind ``label``.
    var description: String {
        String(Terminal.standardError.paragraphs(Self.label + text).dropFirst(Self.label.count))
    }

    /// What the argument parser prints before an error.
    private static let label = "Error: "

    /// - Parameter description: Control characters in it, which may come from elsewhere, are written out.
    init(_ description: String) {
        text = description.visible(keepsNewlines: true)
    }

    /// Prints it as a warning on standard error, where there is an answer all the same.
    func printAsWarning() {
        printError(Terminal.standardError.paragraphs("Warning: \(text)") + "\n")
    }

    static func noSuchApp(_ bundle: String) -> CommandError {
        CommandError("there is no app \(bundle); `\(PrintedCommand("app list"))` shows those there are")
    }

    static func appExists(_ bundle: String) -> CommandError {
        CommandError(
            "there is an app \(bundle) already; `\(PrintedCommand("app show \(bundle.shellWord)"))` shows it, and `"
                + "\(PrintedCommand("app edit \(bundle.shellWord) --name NAME --store-link ios=https://..."))` changes it"
        )
    }

    static func ruleExists(_ key: String) -> CommandError {
        CommandError(
            "there is a rule \(key) already; `\(PrintedCommand("rule show \(key)"))` shows it, and `"
                + "\(PrintedCommand("rule edit \(key) --title TITLE --text TEXT"))` changes it; or choose another key"
        )
    }

    static func noSuchRule(_ key: String) -> CommandError {
        CommandError("there is no rule \(key); `\(PrintedCommand("rule list"))` shows those there are")
    }
}

/// A command that is printed to be typed, on a terminal, in a log or on a page: the only way in which one is.
///
/// It names the database that the command was told to use, because another may be meant where it is typed. What only the
/// environment says by `DATABASE_URL` or `VERSIONGATE_STATE_DIR` is left to the environment; but for a server, whose pages
/// and logs are read elsewhere.
package struct PrintedCommand: CustomStringConvertible, Sendable {
    private let words: String

    /// - Parameter words: What stands behind the name of the program, each word as a shell takes it.
    package init(_ words: String) {
        self.words = words
    }

    /// `versiongate undo 4 --database-url service=staging`
    package var description: String {
        let database = Invocation.current.database.map { " " + $0 }.joined()
        // Quoted text, and all before the word "--": what stands behind that is not for versiongate.
        let own = words.prefixMatch(of: /(?:'[^']*'|\\.|[^'\\ ]|\ (?!--(?:\ |$)))*/)?.output ?? words[...]
        return "versiongate \(own)\(database)\(words[own.endIndex...])"
    }

    /// The text of a command, for what takes a function.
    package static func text(_ words: String) -> String { "\(PrintedCommand(words))" }
}

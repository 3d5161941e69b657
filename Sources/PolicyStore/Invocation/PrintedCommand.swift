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

    /// `versiongate undo 4 --context staging`
    package var description: String {
        let database = Invocation.current.database.map { " " + $0 }.joined()
        // What stands behind it is not for versiongate.
        let end = Self.separator(in: words) ?? words.endIndex
        return "versiongate \(words[..<end])\(database)\(words[end...])"
    }

    /// Where the word `--` begins, with the blank before it; nil: there is none.
    private static func separator(in words: String) -> String.Index? {
        var rest = words[...]
        while let mark = rest.firstIndex(where: { "\\' ".contains($0) }) {
            let next = words.index(after: mark)
            switch words[mark] {
            case " ":
                if words[mark...].hasPrefix(" -- ") || words[mark...] == " --" { return mark }
                rest = words[next...]
            case "'": rest = words[next...].drop { $0 != "'" }.dropFirst()
            default: rest = words[next...].dropFirst()
            }
        }
        return nil
    }

    /// The text of a command, for what takes a function.
    package static func text(_ words: String) -> String { "\(PrintedCommand(words))" }
}

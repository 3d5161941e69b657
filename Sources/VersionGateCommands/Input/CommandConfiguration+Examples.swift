import ArgumentParser

extension CommandConfiguration {
    /// A command with examples: command lines, which are broken where they are long.
    init(
        _ name: String,
        _ abstract: String,
        discussion: String? = nil,
        examples: [String],
        subcommands: [any ParsableCommand.Type] = []
    ) {
        let title = examples.count == 1 ? "Example:" : "Examples:"
        let text = ([title] + examples.map(Self.broken)).joined(separator: "\n")
        self.init(
            commandName: name, abstract: abstract, discussion: (discussion.map { $0 + "\n\n" } ?? "") + text,
            subcommands: subcommands
        )
    }

    /// A command line on lines of less than 60 columns; an option stays beside its value where both have room.
    private static func broken(_ example: String) -> String {
        let words = example.matches(of: /(--\S+ (?!-))?("[^"]*"|'[^']*'|[^\s"'])+/).flatMap { match -> [Substring] in
            let word = match.output.0
            return word.count > 52 ? word.split(separator: " ", maxSplits: 1) : [word]
        }
        var lines: [String] = []
        var line = " "
        for word in words {
            if line.count + word.count > 56 {
                lines.append(line + " \\")
                line = "   "
            }
            line += " " + word
        }
        return (lines + [line]).joined(separator: "\n")
    }
}

import ArgumentParser

/// Options by the kind of their value, which says what it is called and how it is read.
extension Option {
    init(_ valueName: String, _ help: String) where Value == String? {
        self.init(help: ArgumentHelp("\(help)", valueName: valueName))
    }

    /// Takes any word for the value, also one that begins with a hyphen.
    init<Read>(
        _ valueName: String,
        _ help: String,
        _ read: @escaping @Sendable (String) throws -> Read
    ) where Value == Read? {
        self.init(
            parsing: .unconditional, help: ArgumentHelp("\(help)", valueName: valueName), transform: read)
    }

    /// An option that is given once for each value.
    init<Read>(
        each name: String,
        _ help: String,
        valueName: String,
        _ read: @escaping @Sendable (String) throws -> Read
    ) where Value == [Read] {
        self.init(
            wrappedValue: [], name: .customLong(name),
            help: ArgumentHelp("\(help); can be repeated.", valueName: valueName), transform: read
        )
    }

    init(each name: String, _ help: String, valueName: String? = nil) where Value == [String] {
        self.init(each: name, help, valueName: valueName ?? name) { $0 }
    }

    init(time help: String) where Value == TimeArgument? { self.init("time", help, TimeArgument.parse) }
    init(percent help: String) where Value == String? { self.init("percent", help, PercentArgument.parse) }
    init(duration help: String) where Value == String? { self.init("duration", help, DurationArgument.parse) }
    /// A revision, or the number of a change.
    init(revision help: String) where Value == Int64? { self.init("number", help, WholeNumber.parse) }
    init(number help: String) where Value == Int64? {
        self.init("number", help) { Int64(try WholeNumber.parse($0) as Int32) }
    }

    init(file help: String) where Value == String? {
        self.init(help: ArgumentHelp("\(help)", valueName: "file"), completion: .file())
    }

    init<Record>(clear _: Record.Type) where Value == [ClearedField<Record>] {
        self.init(
            wrappedValue: [], name: .customLong("clear"),
            help: ArgumentHelp("Set a field back to its default, mostly to none; can be repeated.", valueName: "field")
        )
    }
}

extension Flag where Value == Bool? {
    /// A flag for a column, with the one that sets it back.
    init(column help: String) {
        self.init(inversion: .prefixedNo, exclusivity: .exclusive, help: ArgumentHelp("\(help)"))
    }
}

/// The configuration of a command with examples: command lines, which are broken where they are long.
func command(
    _ name: String,
    _ abstract: String,
    _ examples: String...,
    discussion: String? = nil,
    subcommands: [any ParsableCommand.Type] = []
) -> CommandConfiguration {
    let title = examples.count == 1 ? "Example:" : "Examples:"
    let text = ([title] + examples.map(broken)).joined(separator: "\n")
    return CommandConfiguration(
        commandName: name, abstract: abstract, discussion: (discussion.map { $0 + "\n\n" } ?? "") + text,
        subcommands: subcommands
    )
}

/// A command line on lines of less than 60 columns; an option stays beside its value where both have room.
private func broken(_ example: String) -> String {
    let words = example.matches(of: /(--?[a-z]\S* (?!-))?("[^"]*"|'[^']*'|[^\s"'])+/).flatMap { match -> [Substring] in
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

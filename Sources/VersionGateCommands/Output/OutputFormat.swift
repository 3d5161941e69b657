import ArgumentParser

/// How a command prints what it lists or shows.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    /// For people.
    case table
    /// For programs.
    case json
}

/// The option that chooses the format.
struct OutputOptions: ParsableArguments {
    @Option(help: "How to print: table for people, json for programs.")
    var format: OutputFormat = .table
}

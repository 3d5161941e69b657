import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate release notes`
struct ReleaseNotesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "Say what is new in a release, for the feeds that show it.",
        discussion: """
            Without --language they are the notes for whoever has none of the other languages, under the tag und. They \
            replace what was there in that language. Without --platform, --build and --region they go into all rows of \
            the release.

            Examples:
              versiongate release notes com.example.doto 1.2 \\
                --platform ios "Fixes a crash at the start."
              versiongate release notes com.example.doto 1.2 \\
                --language de --file notes.de.txt
              versiongate release notes com.example.doto 1.2 \\
                --language de --remove
            """
    )

    /// More than any notes of 4,000 characters have.
    private static let longestFile = 65_536

    @OptionGroup var selector: ReleaseSelector

    @Argument(help: "The notes.")
    var text: String?

    @Option(
        help: ArgumentHelp("A file with the notes; - reads standard input.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    @Option(help: "The language, as a BCP 47 tag: de, pt-BR, zh-Hant.")
    var language = ReleaseNote.anyLanguage

    @Flag(help: "Remove the notes in that language.")
    var remove = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        if [text != nil, file != nil, remove].count(where: { $0 }) != 1 {
            throw ValidationError("Give the notes, or --file with a file that has them, or --remove: one of the three.")
        }
    }

    func run() async throws {
        let notes =
            try file.map { try InputFile.text($0, upTo: Self.longestFile, what: "the file with the notes") } ?? text
        try await options.edit(on: database) { editor in
            var removed = 0
            try selector.forEach(editor) { id in
                let key: [ColumnValue<ReleaseNote>] = [.owner(id), .init(\.language, language)]
                if let notes {
                    try editor.upsert(where: key, set: [.init(\.text, notes)])
                } else {
                    removed += try editor.delete(where: key)
                }
            }
            guard notes != nil || removed > 0 else {
                throw CommandError(
                    "the release \(selector.version) of \(selector.bundle) has no notes in \(language); `"
                        + "\(PrintedCommand("release list --bundle \(selector.bundle.shellWord)"))` shows the languages that there are"
                )
            }
        }
    }
}

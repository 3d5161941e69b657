import ArgumentParser
import FeedTemplates
import PolicyStore
import UpdatePolicy

/// `versiongate feed template set`
struct FeedTemplateSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Write a document of your own, or replace it.",
        discussion: """
            A template that cannot be read, or that has the name of a value that there is not, is refused with its place. \
            `versiongate feed template --help` has the values.

            Examples:
              versiongate feed template set com.example.doto v.json \\
                --content-type application/json v.json
              echo "{{floor}}" | versiongate feed template set \\
                com.example.doto floor --content-type text/plain -
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Argument(help: "The last part of the document's address: versions.json", completion: .templates)
    var name: String

    @Argument(help: "A file with the template; - reads standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("The content type of the document: application/json, text/plain, ...", valueName: "type"),
        completion: .list(FeedTemplate.contentTypes)
    )
    var contentType: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let body = try InputFile.text(file, upTo: FeedTemplate.longestBody, what: "the file with the template")
        let template = FeedTemplate(name: name, contentType: contentType, body: body)
        do {
            _ = try ParsedTemplate(template)
        } catch {
            throw CommandError(error.description(file: InputFile.name(file)))
        }
        try await options.edit(on: database) { editor in
            try editor.upsert(
                where: [.owner(bundle), .init(\FeedTemplate.name, name)],
                set: [.init(\.contentType, contentType), .init(\.body, body)]
            )
        }
    }
}

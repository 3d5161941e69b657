import ArgumentParser
import FeedTemplates
import PolicyStore
import UpdatePolicy

/// `versiongate feed`: the documents that other update clients read.
struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "feed", "Documents for update clients that apps have already, and templates of your own.",
        discussion: """
            The server answers apps that do not ask in its own way: in the format of the update library that they have, or \
            by a template that you write.
            """,
        examples: ["versiongate feed list com.example.doto"],
        subcommands: [FeedListCommand.self, FeedShowCommand.self, FeedTemplateCommand.self, FeedLintCommand.self]
    )
}

/// `versiongate feed template`: documents of one's own.
struct FeedTemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "template", "Write and remove documents of your own.",
        discussion: """
            A template is Mustache: {{name}} writes a value, {{#name}}...{{/name}} what is between if there is one, and \
            {{^name}}...{{/name}} if there is none. The values are bundle, name, store_link, prompt (the version that \
            everybody below is asked to get), floor (the version below which nobody may go on), latest.version, \
            latest.build, latest.min_os, latest.live_at, latest.notes and revision, and in {{#messages}}...{{/messages}} id, \
            title, text, link and lockout of each message. {{^last()}},{{/last()}} in a list writes a comma between items.

            Values are escaped as the content type needs it; JSON puts its own quotation marks round them.
            """,
        examples: [
            "versiongate feed template set com.example.doto v.json --content-type application/json v.json"
        ],
        subcommands: [FeedTemplateSetCommand.self, EditCommand<FeedTemplateRemove>.self]
    )
}

/// `versiongate feed template set`
struct FeedTemplateSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "set", "Write a document of your own, or replace it.",
        discussion: """
            A template that cannot be read, or that has the name of a value that there is not, is refused with its place. \
            `versiongate feed template --help` has the values.
            """,
        examples: [
            "versiongate feed template set com.example.doto v.json --content-type application/json v.json",
            #"echo "{{floor}}" | versiongate feed template set com.example.doto floor --content-type text/plain -"#,
        ]
    )

    @OptionGroup var app: AppBundle
    @Argument(help: "The last part of the document's address: versions.json") var name: String
    @Argument(help: "A file with the template; - reads standard input.", completion: .file()) var file: String

    @Option(
        help: ArgumentHelp("The content type of the document: application/json, text/plain, ...", valueName: "type"),
        completion: .list(FeedTemplate.contentTypes)
    )
    var contentType: String

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let body = try InputFile.text(file, upTo: FeedTemplate.longestBody, what: "the file with the template")
        do {
            _ = try ParsedTemplate(FeedTemplate(name: name, contentType: contentType, body: body))
        } catch {
            throw CommandError(error.description(file: InputFile.name(file)))
        }
        try await options.edit(on: database) { editor in
            try editor.upsert(
                where: [.owner(app.bundle), .init(\FeedTemplate.name, name)],
                set: [.init(\.contentType, contentType), .init(\.body, body)]
            )
        }
    }
}

struct FeedTemplateRemove: EditVerb {
    static let configuration = CommandConfiguration(
        "remove", "Remove a document of your own.",
        discussion: "Its address answers with 404 from then on. It asks on a terminal; in scripts it needs --yes.",
        examples: ["versiongate feed template remove com.example.doto v.json"]
    )

    @OptionGroup var app: AppBundle
    @Argument(help: "The last part of the document's address.") var name: String

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        let bundle = app.bundle
        guard try editor.delete(where: [.owner(bundle), .init(\FeedTemplate.name, name)]) == 0 else { return }
        try editor.edit(app: bundle)
        throw CommandError(
            "\(bundle) has no template \(name); `\(PrintedCommand("feed list \(bundle.shellWord)"))` shows those there are"
        )
    }
}

/// `versiongate feed lint`
struct FeedLintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "lint", "Find templates that cannot be served.",
        discussion: """
            Templates that were written with SQL are not read before they are asked for. This reads them all; the exit code \
            is 1 if one has a fault.
            """,
        examples: [
            "versiongate feed lint",
            "versiongate feed lint com.example.doto --format json",
        ]
    )

    @Argument(help: "The bundle of the app; every app unless given.") var bundle: String?
    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let apps = try await database.read { reports -> [App] in
            if let bundle { return [try reports.appWithTemplates(bundle)] }
            return try PolicyReader.policy(reports.session, bundles: nil).apps
        }
        let faults = apps.flatMap { app in
            app.feedTemplates.compactMap { template -> (bundle: String, name: String, fault: FeedTemplateFault)? in
                do throws(FeedTemplateFault) {
                    _ = try ParsedTemplate(template)
                    return nil
                } catch {
                    return (app.bundle, template.name, error)
                }
            }
        }
        switch output.format {
        case .json:
            let list = faults.map { bundle, name, fault -> JSONValue in
                [
                    "bundle": bundle, "name": name, "line": fault.line, "column": fault.column,
                    "message": fault.message, "hint": fault.hint,
                ]
            }
            print(JSONValue.array(list).lines)
        case .table:
            let count = apps.map(\.feedTemplates.count).reduce(0, +)
            let lines = faults.map {
                $0.fault.description(file: "\($0.bundle) \($0.name)").visible(keepsNewlines: true)
            }
            print(
                lines.isEmpty
                    ? "No faults in \(count) template\(count == 1 ? "" : "s")." : lines.joined(separator: "\n")
            )
        }
        if !faults.isEmpty { throw ExitCode.failure }
    }
}

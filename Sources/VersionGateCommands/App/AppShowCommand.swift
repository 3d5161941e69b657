import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate app show`
struct AppShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an app with its store links, releases and rules.",
        discussion: """
            Example:
              versiongate app show com.example.doto
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            switch output.format {
            case .json:
                guard let json = try reports.appJSON(bundle) else {
                    throw try CommandError.noSuchApp(bundle, reports.session)
                }
                print(json)
            case .table:
                guard let (app, releases, rules) = try reports.app(bundle) else {
                    throw try CommandError.noSuchApp(bundle, reports.session)
                }
                let links = app.storeLinks.map { "\($0.platform)  \($0.link)" }
                let feeds = app.feedTemplates.map { "\($0.name)  \($0.contentType)" }
                let others = [
                    RecordField(name: "store_links", value: links.isEmpty ? nil : links.joined(separator: "\n")),
                    RecordField(name: "feeds", value: feeds.isEmpty ? nil : feeds.joined(separator: "\n")),
                    RecordField(name: "releases", value: "\(releases)"), RecordField(name: "rules", value: "\(rules)"),
                ]
                print(RecordText(app.fields(at: try CommandClock(reports.session).now) + others).text)
            }
        }
    }
}

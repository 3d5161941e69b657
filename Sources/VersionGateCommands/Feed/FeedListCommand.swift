import ArgumentParser
import Foundation
import PolicyStore
import Postgres
import Reports
import UpdateFeeds
import UpdatePolicy

/// `versiongate feed list`
struct FeedListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the documents of an app: who reads them, and their addresses on the server.",
        discussion: """
            Example:
              versiongate feed list com.example.doto
            """
    )

    @Argument(help: "The bundle of the app.")
    var bundle: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            output.print(Report(at: .now(), Self.feeds(of: try reports.appWithTemplates(bundle))))
        }
    }

    /// The documents of an app: those of known formats, and its own.
    private static func feeds(of app: App) -> Table {
        let bundle = app.bundle.percentEncoded
        let folder = "/v1/feeds/\(bundle)/"
        let formats = FeedFormat.allCases.filter(\.isBelowApp).flatMap { format -> [(String, String, String)] in
            guard format == .appcast else { return [(format.rawValue, format.client, folder + format.rawValue)] }
            return AppcastReader.allCases.map { reader in
                (format.rawValue, reader.client, "\(folder)\(format.rawValue)?for=\(reader.rawValue)")
            }
        }
        let lookup = app.numberInStore.map { "id=\($0)" } ?? "bundleId=\(bundle)"
        let templates = app.feedTemplates.map { ($0.name, "a template, \($0.contentType)", folder + $0.name) }
        return Table(
            ifEmpty: "No feeds.",
            formats + [(FeedFormat.lookup.rawValue, FeedFormat.lookup.client, "/lookup?\(lookup)")] + templates,
            columns: [
                Column("Feed", json: "name", isName: true) { .text($0.0) },
                Column("Read by", json: "read_by") { .text($0.1) }, Column("Address", json: "address") { .text($0.2) },
            ]
        )
    }
}

extension PolicyReports {
    /// An app with its templates.
    ///
    /// - Throws: `CommandError` if there is none of this bundle.
    func appWithTemplates(_ bundle: String) throws -> App {
        guard let app = try PolicyReader.policy(session, bundles: [bundle]).apps.first else {
            throw try CommandError.noSuchApp(bundle, session)
        }
        return app
    }
}

import ArgumentParser
import Foundation
import PolicyStore
import Postgres
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

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            output.print(Feed.all(of: try reports.appWithTemplates(bundle)), ifEmpty: "No feeds.")
        }
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

/// A document of an app.
private struct Feed: ListedObject {
    let name: String
    let readers: String
    let address: String

    /// The documents of an app: those of known formats, and its own.
    static func all(of app: App) -> [Feed] {
        let bundle = app.bundle.percentEncoded
        let feeds = "/v1/feeds/\(bundle)/"
        let formats = FeedFormat.allCases.filter(\.isBelowApp).flatMap { format -> [Feed] in
            guard format == .appcast else {
                return [Feed(name: format.rawValue, readers: format.client, address: feeds + format.rawValue)]
            }
            return AppcastReader.allCases.map { reader in
                let address = "\(feeds)\(format.rawValue)?for=\(reader.rawValue)"
                return Feed(name: format.rawValue, readers: reader.client, address: address)
            }
        }
        let lookup = app.numberInStore.map { "id=\($0)" } ?? "bundleId=\(bundle)"
        let templates = app.feedTemplates.map { template in
            Feed(name: template.name, readers: "a template, \(template.contentType)", address: feeds + template.name)
        }
        return formats + [
            Feed(name: FeedFormat.lookup.rawValue, readers: FeedFormat.lookup.client, address: "/lookup?\(lookup)")
        ]
            + templates
    }

    static let header = ["FEED", "READ BY", "ADDRESS"]

    var cells: [String] { [name, readers, address] }

    var json: JSONValue { ["name": name, "read_by": readers, "address": address] }
}

import ArgumentParser
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

struct TokenCommand: AsyncParsableCommand {
    static let configuration = command(
        "token", "Let pipelines record releases over HTTP.", "versiongate token add ci --bundle com.example.doto",
        discussion: """
            A token may add a release of its app, fill in what is not recorded of one, end its staging and withdraw it, \
            and nothing else. The history names the token. Servers take tokens with --release-tokens.
            """,
        subcommands: [TokenAddCommand.self, ReadCommand<TokenList>.self, TokenRemoveCommand.self]
    )
}

struct TokenAddCommand: AsyncParsableCommand {
    static let configuration = command(
        "add", "Make a token for the releases of an app, and print it.",
        "versiongate token add ci --bundle com.example.doto",
        "versiongate token add play --bundle com.example.doto --platform android",
        discussion: "The token is printed only this once: the database keeps a hash of it."
    )

    @Argument(help: ArgumentHelp("The name of the token, which the history shows.", valueName: "name")) var name: String
    @Option(help: "The app whose releases it may record.") var bundle: String
    @Option(each: "platform", "A platform that it is for (ios); all of them unless given") var platforms: [String]
    @Flag(help: "Accepted, as by every command that changes something; this one asks nothing.") var yes = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let (token, added) = try await database.withTokens { connection, _ in
            try await connection.withSession {
                try ReleaseTokens.add(name, bundle: bundle, platforms: platforms.isEmpty ? nil : platforms, $0)
            }
        }
        let release =
            ["bundle": added.bundle, "version": "1.2", "platform": added.platforms?.first ?? "ios"] as JSONValue
        print(
            """
            Added token \(added.name) for \(added.bundle.visible()), \(added.platformsInWords).
            Token, shown this once: \(token)
            To record a release, on a server with --release-tokens:
              curl --fail-with-body https://HOST/v1/releases \\
                --header "Authorization: Bearer $VERSIONGATE_TOKEN" \\
                --data \(release.text.shellWord)
            """
        )
    }
}

struct TokenList: ReadVerb {
    static let configuration = command(
        "list", "List the tokens with their apps and platforms.", "versiongate token list"
    )

    func report(_ reports: PolicyReports, as _: OutputFormat) throws -> Report {
        let table = Table(
            ifEmpty: "No tokens. Add one: \(command: "token add NAME --bundle BUNDLE")",
            try ReleaseTokens.all(reports.session),
            columns: [
                Column("Name", json: "name", isName: true) { .text($0.name) },
                Column("App", json: "bundle", isName: true) { .text($0.bundle) },
                Column("Platforms", json: "platforms") {
                    .sentence(Sentence($0.platformsInWords), json: $0.platforms)
                },
                Column("Made by", json: "made_by") { .text($0.madeBy) },
                Column("Made", json: "made_at") { .sentence("\(time: $0.madeAt)", json: $0.madeAt) },
            ]
        )
        return Report(at: try reports.now, table)
    }
}

struct TokenRemoveCommand: AsyncParsableCommand {
    static let configuration = command(
        "remove", "End a token: nothing is recorded with it any more.", "versiongate token remove ci --yes",
        discussion: "What was recorded with it stays."
    )

    @Argument(help: ArgumentHelp("The name of the token.", valueName: "name")) var name: String
    @Flag(help: "Remove the token without a question, as scripts must.") var yes = false
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let place = try await database.withTokens { connection, place in
            let tokens = try await connection.withSession { try ReleaseTokens.all($0) }
            guard let token = tokens.first(where: { $0.name == name }) else {
                throw CommandError(
                    "there is no token \(name); `\(PrintedCommand("token list"))` lists the tokens"
                )
            }
            try EditOptions.requireApproval(
                ["this ends the token \(name) of \(token.bundle): pipelines that use it are refused"], on: place,
                yes: yes
            )
            try await connection.withSession { try ReleaseTokens.remove(name, $0) }
            return place
        }
        print("Removed token \(name.visible()) from \(place.visible()).")
    }
}

extension DatabaseOptions {
    fileprivate func withTokens<Result: Sendable>(
        _ body: (_ connection: PostgresConnection, _ place: String) async throws -> Result
    ) async throws -> Result {
        try await withConnection(as: .admin) { connection, logger, place in
            try await SchemaMigrator(logger: logger).status(connection).requireCurrent()
            return try await body(connection, place)
        }
    }
}

extension ReleaseToken {
    fileprivate var platformsInWords: String { platforms?.joined(separator: ", ") ?? "all platforms" }
}

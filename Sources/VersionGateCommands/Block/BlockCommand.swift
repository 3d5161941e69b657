// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate block`
struct BlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Lock out one version of an app, or one build of it, until users update.",
        discussion: """
            It adds an enabled rule with a lockout for that version. Before that it looks for what a lockout needs: \
            a newer release that users can get, and a link to the store, so that nobody is locked out without a \
            button. On a terminal it asks for what is missing, and records it with the rule in one change; in scripts \
            it is refused, with the commands that add what is missing.

            It shows which share of the recent checks is locked out, and asks as every edit does; --yes approves, and \
            takes the proposed title and text. Users without a newer release get the message, and are not locked out.

            Examples:
              versiongate block com.example.doto 1.1
              versiongate block com.example.doto 1.1 --build 113 \\
                --platform ios --why "loses data"
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Argument(help: "The version, as the app reports it.", completion: .versions)
    var version: String

    @Option(help: "Only this build of the version.")
    var build: String?

    @Option(
        name: .customLong("platform"),
        help: ArgumentHelp("Only this platform (ios, android, macos, ...); can be repeated.", valueName: "platform"),
        completion: .platforms
    )
    var platforms: [String] = []

    @Option(help: "The message's title.")
    var title: String?

    @Option(help: "The message's text. {app} is filled in.")
    var text: String?

    @Option(
        help: ArgumentHelp("Where the message leads; the app's store link unless given.", valueName: "url|store")
    )
    var link = MessageLink.store

    @Option(help: "The rule's key; made from the version unless given.")
    var key: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Take the lockout away by itself where it locks out more than this share of the app's checks.",
            valueName: "percent"
        ),
        transform: PercentArgument.parse
    )
    var fuse: PercentArgument?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let (facts, databaseName) = try await database.withConnection(as: .admin) { connection, logger, name in
            let facts = try await connection.transaction(.repeatableReadReadOnly) { session in
                try SchemaMigrator(logger: logger).status(session).requireCurrent()
                return try BlockFacts(bundle: bundle, version: version, platforms: platforms, session)
            }
            return (facts, name)
        }
        let asks = Terminal.canAsk && !options.yes
        var block = try Block(
            version: version,
            build: build,
            platforms: asks ? try BlockQuestions.platforms(platforms, facts, version) : platforms,
            link: link,
            facts: facts
        )
        print(Terminal.standardOutput.paragraphs(block.share))
        if asks { try BlockQuestions.complete(&block, title: title, text: text) }
        if let title { block.title = title }
        if let text { block.text = text }
        if let key { block.key = key }
        block.fuse = fuse?.number
        guard block.faults.isEmpty else {
            throw CommandError(
                "\(block.audience) is not blocked yet, nothing was changed on \(databaseName):\n"
                    + block.faults.joined(separator: "\n")
            )
        }
        print(Terminal.standardOutput.paragraphs(block.outlook.joined(separator: "\n")))
        let edit = block
        try await options.edit(on: database) { editor in try edit.make(editor) }
        if options.dryRun { return }
        print(Terminal.standardOutput.paragraphs("What such a client gets: \(block.checkCommand)"))
    }
}

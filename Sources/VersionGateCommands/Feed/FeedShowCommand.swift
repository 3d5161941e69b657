// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import FeedTemplates
import PolicyFigures
import PolicyStore
import UpdateFeeds
import UpdatePolicy

/// `versiongate feed show`
struct FeedShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a document as a server would answer it.",
        discussion: """
            The names are those of versiongate feed list; codepush is the answer to update_check. The members are those of \
            the address: those of a check, and those of the format, such as for=sparkle for appcast.xml and \
            app_version=1.1 for codepush. The app need not be named again.

            The document is printed as it is sent, byte by byte; on a terminal a line break follows.

            Examples:
              versiongate feed show com.example.doto updates.json
              versiongate feed show com.example.doto appcast.xml \\
                for=sparkle version=1.1
              versiongate feed show com.example.doto iversion.plist \\
                --accept-language de --at +2h
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Argument(help: "The name of the document.", completion: .list(FeedFormat.allCases.map(\.name)))
    var name: String

    @Argument(
        help: ArgumentHelp("What the address says of the client.", valueName: "member=value"),
        transform: NamedValue.member
    )
    var members: [NamedValue] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Ask as if it were this time.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var at: TimeArgument?

    @Option(help: ArgumentHelp("Ask the policy as it stood at this revision.", valueName: "number"))
    var revision: Int64?

    @Option(help: ArgumentHelp("The field Accept-Language of the request.", valueName: "field"))
    var acceptLanguage: String?

    @Option(help: ArgumentHelp("The field User-Agent of the request.", valueName: "field"))
    var userAgent: String?

    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        if let revision, revision < 0 {
            throw ValidationError("There is no revision \(revision); revisions are counted from 0 on.")
        }
        if members.contains(where: { $0.name == "bundle" }) {
            throw ValidationError("The app is the first argument; leave bundle=... out.")
        }
        let format = FeedFormat(name: name)
        if let reader = asked("for"), format == .appcast, AppcastReader(rawValue: reader) == nil {
            let readers = AppcastReader.allCases.map { "for=\($0.rawValue)" }.joined(separator: " or ")
            throw ValidationError("There is no appcast for \"\(reader)\"; write \(readers).")
        }
        for (old, member) in [(FeedFormat.codePush, "app_version"), (.codePushBefore, "appVersion")]
        where format == old && asked(member) == nil {
            throw ValidationError(
                "CodePush clients send their version, and a server answers 400 without it; write \(member)=1.1."
            )
        }
        _ = try client(format)
    }

    func run() async throws {
        let format = FeedFormat(name: name)
        let (contents, time) = try await database.read { reports in
            let clock = try CommandClock(reports.session)
            let time = try at.map { try clock.moment($0, of: "--at") } ?? clock.now
            return (try PolicyReader.policy(reports.session, revision: revision), time)
        }
        let policy = try CompiledPolicy(contents)
        guard let app = policy.section(ofApp: bundle)?.app else {
            throw CommandError.noSuchApp(bundle, among: contents.apps.map(\.bundle))
        }
        CheckRemarks(
            try client(format),
            in: contents,
            otherMembers: format?.ownMembers ?? [],
            command: PrintedCommand.text
        ).print()
        let text: String
        if let format {
            text = document(format, of: app, in: policy, at: time)
        } else {
            text = try rendered(app, policy, time)
        }
        print(text, terminator: Terminal.standardOutput.isScreen && !text.hasSuffix("\n") ? "\n" : "")
    }

    private func document(_ format: FeedFormat, of app: App, in policy: CompiledPolicy, at time: Timestamp) -> String {
        let document = FeedDocument(answering: question(format, app), by: policy, at: time)
        return String(decoding: document.bytes, as: UTF8.self)
    }

    /// The document of a template.
    private func rendered(_ app: App, _ policy: CompiledPolicy, _ time: Timestamp) throws -> String {
        guard let template = app.feedTemplates.first(where: { $0.name == name }) else {
            let names = FeedFormat.allCases.map(\.name) + app.feedTemplates.map(\.name)
            let similar = SimilarNames.of(name, among: names).first
            throw CommandError(
                "\(app.bundle) has no feed \(name); "
                    + (similar.map { "did you mean \($0)?" }
                        ?? "`\(PrintedCommand("feed list \(app.bundle)"))` shows those there are")
            )
        }
        let parsed: ParsedTemplate
        do {
            parsed = try ParsedTemplate(template)
        } catch {
            throw CommandError(error.description(file: "\(app.bundle) \(name)"))
        }
        guard let values = FeedValues(answering: question(nil, app), by: policy, at: time, for: parsed),
            let document = parsed.render(values)
        else {
            throw CommandError(
                "the document would have more than \(ParsedTemplate.largestDocument) bytes, so servers answer 404; write "
                    + "less in \(app.bundle) \(name) for each message, or shorter messages"
            )
        }
        return document
    }

    private func question(_ format: FeedFormat?, _ app: App) -> FeedQuestion {
        // Where a format names the app itself, it stands in the query.
        let naming: [(name: String, value: String)]
        switch format {
        case .lookup: naming = asked("id") == nil ? [("bundleId", app.bundle)] : []
        case .codePush: naming = [("deployment_key", app.bundle)]
        case .codePushBefore: naming = [("deploymentKey", app.bundle)]
        default: naming = []
        }
        return FeedQuestion(
            format: format,
            bundle: naming.isEmpty && format != .lookup ? app.bundle : nil,
            query: members.map { ($0.name, $0.value) } + naming,
            acceptLanguage: acceptLanguage,
            userAgent: userAgent
        )
    }

    private func asked(_ name: String) -> String? { members.first { $0.name == name && !$0.value.isEmpty }?.value }

    /// The client that the members describe.
    private func client(_ format: FeedFormat?) throws -> Client {
        var client = Client()
        do throws(ClientError) {
            try client.set(.bundle, to: .text(UTF8Text(bundle)))
            for member in members where format?.ownMembers.contains(member.name) != true {
                let name = member.name == "d" ? "install" : member.name
                try client.set(UTF8Text(name), to: .text(UTF8Text(member.value)))
            }
            try client.validate()
        } catch {
            throw ValidationError("\(error)")
        }
        return client
    }
}

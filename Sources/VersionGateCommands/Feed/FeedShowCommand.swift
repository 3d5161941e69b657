import ArgumentParser
import FeedTemplates
import PolicyStore
import UpdateFeeds
import UpdatePolicy

/// `versiongate feed show`
struct FeedShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "show", "Show a document as a server would answer it.",
        discussion: """
            The names are those of versiongate feed list. The members are those of the address: those of a check, and those \
            of the format, such as for=sparkle for appcast.xml. The app need not be named again.

            The document is printed as it is sent, byte by byte; on a terminal a line break follows. On standard \
            error are the rules in force of which it cannot say all, and why.
            """,
        examples: [
            "versiongate feed show com.example.doto updates.json",
            "versiongate feed show com.example.doto appcast.xml for=sparkle version=1.1",
            "versiongate feed show com.example.doto iversion.plist --accept-language de --at +2h",
        ]
    )

    @Argument(help: "The bundle of the app.") var bundle: String

    @Argument(help: "The name of the document.", completion: .list(FeedFormat.allCases.map(\.rawValue)))
    var name: String

    @Argument(
        help: ArgumentHelp("What the address says of the client.", valueName: "member=value"),
        transform: NamedValue.member
    )
    var members: [NamedValue] = []

    @Option(time: "Ask as if it were this time.") var at: TimeArgument?
    @Option(
        help: ArgumentHelp("Ask the policy as it stood at this revision.", valueName: "number"),
        transform: WholeNumber.parse
    )
    var revision: Int64?
    @Option("field", "The field Accept-Language of the request.") var acceptLanguage: String?
    @Option("field", "The field User-Agent of the request.") var userAgent: String?
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        if let revision, revision < 0 {
            throw ValidationError("There is no revision \(revision); revisions are counted from 0 on.")
        }
        if members.contains(where: { $0.name == "bundle" }) {
            throw ValidationError("The app is the first argument; leave bundle=... out.")
        }
        let format = FeedFormat(rawValue: name)
        if let reader = asked("for"), format == .appcast, AppcastReader(rawValue: reader) == nil {
            let readers = AppcastReader.allCases.map { "for=\($0.rawValue)" }.joined(separator: " or ")
            throw ValidationError("There is no appcast for \"\(reader)\"; write \(readers).")
        }
        _ = try client(format)
    }

    func run() async throws {
        let format = FeedFormat(rawValue: name)
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
            try client(format), in: contents, otherMembers: format?.ownMembers ?? [], command: PrintedCommand.text
        ).print()
        let text: String
        if let format {
            let document = FeedDocument(answering: question(format, app), by: policy, at: time)
            text = String(decoding: document.bytes, as: UTF8.self)
        } else {
            text = try rendered(app, policy, time)
        }
        print(text, terminator: Terminal.standardOutput.isScreen && !text.hasSuffix("\n") ? "\n" : "")
        printLosses(FeedLoss.all(answering: question(format, app), by: policy, at: time))
    }

    /// Prints the rules of which the document cannot say all.
    private func printLosses(_ losses: [FeedLoss]) {
        guard !losses.isEmpty else { return }
        let lines = losses.map { loss in
            "  \(loss.key)\(loss.platform.map { " on \($0)" } ?? ""): \(loss.reason)".visible()
        }
        let text = (["Not in this document:"] + lines).map {
            Terminal.standardError.paragraphs($0, indentation: "    ")
        }
        printError(text.joined(separator: "\n") + "\n")
    }

    /// The document of a template.
    private func rendered(_ app: App, _ policy: CompiledPolicy, _ time: Timestamp) throws -> String {
        guard let template = app.feedTemplates.first(where: { $0.name == name }) else {
            let names = FeedFormat.allCases.map(\.rawValue) + app.feedTemplates.map(\.name)
            let similar = SimilarNames.of(name, among: names).first
            throw CommandError(
                "\(app.bundle) has no feed \(name); "
                    + (similar.map { "did you mean \($0)?" }
                        ?? "`\(PrintedCommand("feed list \(app.bundle.shellWord)"))` shows those there are")
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
        let naming = format == .lookup && asked("id") == nil ? [(name: "bundleId", value: app.bundle)] : []
        return FeedQuestion(
            format: format, bundle: format == .lookup ? nil : app.bundle,
            query: members.map { ($0.name, $0.value) } + naming, acceptLanguage: acceptLanguage, userAgent: userAgent
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

import ArgumentParser
import FeedTemplates
import PolicyStore
import Postgres
import Reports
import UpdateFeeds
import UpdatePolicy

struct FeedCommand: AsyncParsableCommand {
    static let configuration = command(
        "feed", "Documents for update clients that apps already have, and templates of your own.",
        "versiongate feed list com.example.doto",
        discussion: """
            The server answers apps that do not ask in its own way: in the format of the update library that they \
            have, or by a template that you write.
            """,
        subcommands: [ReadCommand<FeedList>.self, FeedShowCommand.self, FeedTemplateCommand.self, FeedLintCommand.self]
    )
}

struct FeedList: ReadVerb {
    static let configuration = command(
        "list", "List the documents of an app: who reads them, and their addresses on the server.",
        "versiongate feed list com.example.doto"
    )

    @Argument(help: "The bundle of the app.") var bundle: String

    /// The documents of an app: those of known formats, and its own.
    func report(_ reports: PolicyReports, as _: OutputFormat) throws -> Report {
        let app = try reports.appWithTemplates(bundle)
        let name = app.bundle.percentEncoded
        let folder = "/v1/feeds/\(name)/"
        let formats = FeedFormat.allCases.filter(\.isBelowApp).flatMap { format -> [(String, String, String)] in
            guard format == .appcast else { return [(format.rawValue, format.client, folder + format.rawValue)] }
            return AppcastReader.allCases.map { reader in
                (format.rawValue, reader.client, "\(folder)\(format.rawValue)?for=\(reader.rawValue)")
            }
        }
        let lookup = app.numberInStore.map { "id=\($0)" } ?? "bundleId=\(name)"
        let templates = app.feedTemplates.map { ($0.name, "a template, \($0.contentType)", folder + $0.name) }
        let table = Table(
            ifEmpty: "No feeds.",
            formats + [(FeedFormat.lookup.rawValue, FeedFormat.lookup.client, "/lookup?\(lookup)")] + templates,
            columns: [
                Column("Feed", json: "name", isName: true) { .text($0.0) },
                Column("Read by", json: "read_by") { .text($0.1) }, Column("Address", json: "address") { .text($0.2) },
            ]
        )
        return Report(at: .now(), table)
    }
}

struct FeedTemplateCommand: AsyncParsableCommand {
    static let configuration = command(
        "template", "Write and remove your own documents.",
        "versiongate feed template set com.example.doto v.json --content-type application/json v.json",
        discussion: """
            A template is Mustache: {{name}} writes a value, {{#name}}...{{/name}} what is between if there is one, \
            and {{^name}}...{{/name}} if there is none. The values are bundle, name, store_link, prompt (the version \
            that everybody below is asked to get), floor (the version below which everybody is locked out), latest.version, \
            latest.build, latest.min_os, latest.live_at, latest.notes and revision, and in \
            {{#messages}}...{{/messages}} id, title, text, link and lockout of each message. {{^last()}},{{/last()}} \
            in a list writes a comma between items.

            Values are escaped as the content type needs it; JSON puts its own quotation marks round them.
            """,
        subcommands: [FeedTemplateSetCommand.self, EditCommand<FeedTemplateRemove>.self]
    )
}

extension FeedTemplate {
    /// Why it cannot be served; nil where it can.
    var fault: FeedTemplateFault? {
        do throws(FeedTemplateFault) {
            _ = try ParsedTemplate(self)
            return nil
        } catch {
            return error
        }
    }

    func parsed(in place: String) throws -> ParsedTemplate {
        do { return try ParsedTemplate(self) } catch { throw CommandError(error.description(file: place)) }
    }
}

struct FeedTemplateSetCommand: AsyncParsableCommand {
    static let configuration = command(
        "set", "Write your own document, or replace it.",
        "versiongate feed template set com.example.doto v.json --content-type application/json v.json",
        #"echo "{{floor}}" | versiongate feed template set com.example.doto floor --content-type text/plain -"#,
        discussion: """
            A template that cannot be read, or that names a value that does not exist, is refused with its place. \
            `versiongate feed template --help` has the values.
            """
    )

    @Argument(help: "The bundle of the app.") var bundle: String
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
        _ = try FeedTemplate(name: name, contentType: contentType, body: body).parsed(in: InputFile.name(file))
        try await options.edit(on: database, values: { _ in }) { editor, _ in
            try editor.upsert(
                where: [.owner(bundle), .init(\FeedTemplate.name, name)],
                set: [.init(\.contentType, contentType), .init(\.body, body)]
            )
        }
    }
}

struct FeedTemplateRemove: EditVerb {
    static let configuration = command(
        "remove", "Remove one of your own documents.", "versiongate feed template remove com.example.doto v.json",
        discussion: "Its address answers with 404 from then on."
    )

    @Argument(help: "The bundle of the app.") var bundle: String
    @Argument(help: "The last part of the document's address.") var name: String

    var asksAboutRemovals: Bool { true }

    func edit(_ editor: PolicyEditor, _: Void) throws {
        guard try editor.delete(where: [.owner(bundle), .init(\FeedTemplate.name, name)]) == 0 else { return }
        try editor.edit(app: bundle)
        throw CommandError(
            "\(bundle) has no template \(name); `\(PrintedCommand("feed list \(bundle.shellWord)"))` lists its documents"
        )
    }
}

struct FeedLintCommand: AsyncParsableCommand {
    static let configuration = command(
        "lint", "Find templates that cannot be served.",
        "versiongate feed lint", "versiongate feed lint com.example.doto --format json",
        discussion: """
            Templates that were written with SQL are not read until a client asks for them. This reads them all; the \
            exit code is 1 if one has a fault.
            """
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
            app.feedTemplates.compactMap { template in template.fault.map { (app.bundle, template.name, fault: $0) } }
        }
        let count = apps.map(\.feedTemplates.count).reduce(0, +)
        let list = faults.map { bundle, name, fault -> JSONValue in
            [
                "bundle": bundle, "name": name, "line": fault.line, "column": fault.column, "message": fault.message,
                "hint": fault.hint,
            ]
        }
        let lines = faults.map { $0.fault.description(file: "\($0.0) \($0.1)").visible(keepsNewlines: true) }
        switch output.format {
        case .json: print(JSONValue.array(list).lines)
        case .table where lines.isEmpty: print("No faults in \(count) template\(count == 1 ? "" : "s").")
        case .table: print(lines.joined(separator: "\n"))
        }
        if !faults.isEmpty { throw ExitCode.failure }
    }
}

struct FeedShowCommand: AsyncParsableCommand {
    static let configuration = command(
        "show", "Show a document as a server would answer it.",
        "versiongate feed show com.example.doto updates.json",
        "versiongate feed show com.example.doto appcast.xml for=sparkle version=1.1",
        "versiongate feed show com.example.doto iversion.plist --accept-language de --at +2h",
        discussion: """
            The names are those of versiongate feed list. The members are those of the address: those of a check, and \
            those of the format, such as for=sparkle for appcast.xml. The app need not be named again.

            The document is printed as it is sent, byte by byte; on a terminal a line break follows. Standard error \
            names the rules in force that it cannot carry whole, and why.
            """
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
    @Option(revision: "Ask the policy as it stood at this revision.") var revision: Int64?
    @Option("field", "The field Accept-Language of the request.") var acceptLanguage: String?
    @Option("field", "The field User-Agent of the request.") var userAgent: String?
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        try WholeNumber.requireRevision(revision)
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
        let client = try client(format)
        CheckRemarks(client, in: contents, otherMembers: format?.ownMembers ?? [], command: PrintedCommand.text)
            .warnings.forEach { warn($0.visible()) }
        let text: String
        if let format {
            let document = FeedDocument(answering: question(format, app), by: policy, at: time)
            text = String(decoding: document.bytes, as: UTF8.self)
        } else {
            text = try rendered(app, policy, time)
        }
        print(text, terminator: Terminal.standardOutput.isScreen && !text.hasSuffix("\n") ? "\n" : "")
        let losses = FeedLoss.all(answering: question(format, app), by: policy, at: time)
        guard !losses.isEmpty else { return }
        let lines = losses.map { loss in
            "  \(loss.key)\(loss.platform.map { " on \($0)" } ?? ""): \(loss.reason)".visible()
        }
        for line in ["Not in this document:"] + lines {
            printError(Terminal.standardError.paragraphs(line, indentation: "    ") + "\n")
        }
    }

    /// The document of a template.
    private func rendered(_ app: App, _ policy: CompiledPolicy, _ time: Timestamp) throws -> String {
        guard let template = app.feedTemplates.first(where: { $0.name == name }) else {
            let names = FeedFormat.allCases.map(\.rawValue) + app.feedTemplates.map(\.name)
            let similar = CommandError.similar(to: name, among: names)
            let list = "`\(PrintedCommand("feed list \(app.bundle.shellWord)"))` lists its documents"
            throw CommandError("\(app.bundle) has no feed \(name); \(similar ?? list)")
        }
        let parsed = try template.parsed(in: "\(app.bundle) \(name)")
        guard let values = FeedValues(answering: question(nil, app), by: policy, at: time, for: parsed),
            let document = parsed.render(values)
        else {
            throw CommandError(
                "the document would have more than \(ParsedTemplate.largestDocument) bytes, so servers answer 404; shorten "
                    + "what \(app.bundle) \(name) writes for each message, or shorten the messages"
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
        let others = members.filter { format?.ownMembers.contains($0.name) != true }
        return try NamedValue.client(
            [("bundle", bundle)] + others.map { ($0.name == "d" ? "install" : $0.name, $0.value) }
        )
    }
}

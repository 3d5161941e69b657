package import HTTPTypes
package import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// A page while it is made: what the server knows, what the database says, and the parts that stand on it.
struct Page {
    /// What a page may read beside the policy in memory.
    enum Database {
        case unasked
        case open(PostgresSession)
        case unreadable(PageDatabase.Fault)
    }

    /// The page reads the database, which was not asked for yet.
    struct NeedsDatabase: Error {}

    enum Part {
        case report(Report.Part)
        /// A part that no report has, for the template of this name.
        case own(String, JSONValue)
    }

    let facts: ServerFacts
    let now: Timestamp
    let question: PageQuestion
    private let database: Database
    /// What keeps the page from being whole; it stands before all parts but those of ``opening``.
    private(set) var notes: [Report.Note] = []
    var opening: [Report.Part] = []
    private(set) var parts: [Part] = []

    init(
        _ facts: ServerFacts,
        at now: Timestamp,
        _ question: PageQuestion = PageQuestion(),
        _ database: Database = .unasked
    ) {
        self.facts = facts
        self.now = now
        self.question = question
        self.database = database
        if facts.policy == nil { note("This server has no policy yet: checks are answered without messages.") }
        for (text, remedy) in facts.faults { note(Sentence(text), remedy: remedy) }
        if facts.isFromDisk { note("The policy was read from this machine's disk.") }
        if case .unreadable(let fault) = database { note(fault) }
    }

    mutating func add(_ parts: Report.Part...) { add(parts) }
    mutating func add(_ parts: [Report.Part]) { self.parts += parts.map { .report($0) } }
    mutating func add(_ template: String, _ view: JSONValue) { parts.append(.own(template, view)) }
    mutating func add(links: [JSONValue]) { if !links.isEmpty { add("links", ["items": links]) } }

    /// Ways to edit what the page shows.
    mutating func add(edits: [Report.Edit]) {
        if edits.isEmpty { return }
        add(
            .heading("How to change it", id: "edits"),
            .text(
                "Nothing here edits. Run a command, or the SQL below it, with your own login on the database named at the top."
            ), .edits(edits)
        )
    }

    /// A form that asks by an address; `id` stands before the names of its inputs in their ids.
    mutating func add(
        form path: String,
        _ button: String,
        _ explanation: String,
        id: String = "",
        _ inputs: [(name: String, label: String, hint: String, list: String)],
        required: String? = nil,
        box: JSONValue? = nil,
        lines: JSONValue? = nil,
        lists: [JSONValue] = []
    ) {
        let views = inputs.map { name, label, hint, list -> JSONValue in
            [
                "id": id + name, "name": name, "label": label, "hint": hint, "list": list,
                "value": question.members[name], "isRequired": name == required,
            ]
        }
        add(
            "form",
            [
                "action": path, "button": button, "explanation": explanation, "inputs": views, "box": box,
                "lines": lines,
                "lists": lists,
            ]
        )
    }

    /// The page itself, under the entry of the navigation with this path.
    func response(
        _ title: String,
        heading: Sentence? = nil,
        in entry: String? = nil,
        refreshes: Bool = true,
        status: HTTPResponse.Status = .ok,
        fields: HTTPFields = [:]
    ) -> Response {
        let entries = [
            ("Overview", "/"), ("Apps", "/apps"), ("Rules", "/rules"), ("Try a check", "/try"), ("History", "/history"),
            ("Unknowns", "/unknowns"),
        ].map { Self.link($0, $1, isCurrent: $1 == entry) }
        return .page(
            status, "text/html",
            PageTemplates.text(
                "layout",
                [
                    "title": title, "heading": view(heading ?? Sentence(title)), "entries": entries,
                    "database": facts.databaseAddress ?? "not reached since this server started",
                    "revision": facts.policy.map { "\($0.revision)" } ?? "none",
                    "source": facts.isFromDisk ? "from disk" : "from the database",
                    "loaded": facts.loadedAt.map { view(Sentence([.time($0)])) }, "made": view(Sentence([.time(now)])),
                    "refreshes": refreshes, "sections": sections,
                ]
            ),
            fields
        )
    }

    /// A page that says why there is no other.
    func problem(_ problem: PageProblem) -> Response {
        var page = self
        page.add(.text(problem.text))
        page.add(links: [Self.link("Back to the overview", "/")])
        return page.response(
            problem.title, refreshes: false, status: HTTPResponse.Status(code: problem.status),
            fields: problem.status == 503 ? [.retryAfter: "5"] : [:]
        )
    }
}

// MARK: - The policy in memory

extension Page {
    /// The policy that answers; nil before there is one.
    var wholePolicy: Policy? { facts.policy == nil ? nil : policy(ofApp: nil) }

    /// The rows that decide about the rules of an app, or of all apps.
    func policy(ofApp bundle: String?) -> Policy {
        let all = facts.policy?.sections ?? []
        let sections =
            bundle.flatMap { facts.policy?.section(ofApp: $0) }.map { [$0] + all.filter { $0.app == nil } } ?? all
        return Policy(
            revision: facts.policy?.revision ?? 0, token: facts.policy?.token ?? "", apps: sections.compactMap(\.app),
            releases: sections.flatMap(\.releases), rules: sections.flatMap(\.rules)
        )
    }

    /// The app that the path names, with all that belongs to it.
    func namedApp() throws(PageProblem) -> (app: App, section: PolicySection) {
        let bundle = question.part("bundle")
        if let section = facts.policy?.section(ofApp: bundle), let app = section.app { return (app, section) }
        let bundles = facts.policy?.sections.compactMap { $0.app?.bundle } ?? []
        let cure: Sentence = bundle.isBundleIdentifier ? " To add it: \(command: "app add \(bundle.shellOperand)")" : ""
        throw PageProblem(
            404, "There is no such app",
            "The policy of this server has no app \(bundle).\(Self.suggestion(bundle, bundles))\(cure)"
        )
    }

    /// A rule, and its app if it is for one.
    func rule(_ key: String) -> (rule: Rule, app: App?)? {
        for section in facts.policy?.sections ?? [] {
            if let rule = section.rules.first(where: { UTF8Text($0.key) == UTF8Text(key) }) {
                return (rule, section.app)
            }
        }
        return nil
    }

    /// The rule that the path names, and its app if it is for one.
    func namedRule() throws -> (rule: Rule, app: App?) {
        let key = question.part("key")
        if let found = rule(key) { return found }
        let keys = facts.policy?.sections.flatMap { $0.rules.map(\.key) } ?? []
        let end = try removal(ofRule: key).map { change -> Sentence in
            " It was removed by \("change \(change)", .change(change)); \("its history", .history(of: key)) has what it was."
        }
        throw PageProblem(
            404, "There is no such rule",
            "The policy of this server has no rule \(key).\(Self.suggestion(key, keys))\(end ?? "") To see what became of it: \(command: "history \(key.shellWord)")"
        )
    }

    /// The change by which a rule went; nil also where the history cannot be read.
    private func removal(ofRule key: String) throws -> Int64? {
        guard let session = try session, try !DatabaseStatus.Hidden.history.isHidden(session) else { return nil }
        let newest = try PolicyHistory(session, rowsPerChange: 1_000).changes(HistoryFilter(rule: key, limit: 1)).first
        let isRemoval = newest?.rows.contains {
            $0.table == PolicyTable.rules.rawValue && $0.key == key && $0.kind == .removed
        }
        return isRemoval == true ? newest?.id : nil
    }

    private static func suggestion(_ name: String, _ names: [String]) -> String {
        SimilarNames.of(name, among: names).first.map { " Did you mean \($0)?" } ?? ""
    }
}

// MARK: - The database

extension Page {
    /// What is read by; nil, and a note says why, where nothing can be.
    var session: PostgresSession? {
        get throws {
            switch database {
            case .unasked: throw NeedsDatabase()
            case .open(let session): session
            case .unreadable: nil
            }
        }
    }

    /// What was counted; nil, and a note says why, where it cannot be read.
    mutating func counts<Counts>(_ read: (PostgresSession) throws -> Counts) throws -> Counts? {
        switch try session.map({ session in try CountReader(session).attempt { _ in try read(session) } }) {
        case .success(let counts)?: return counts
        case .failure(let error)?:
            note(
                "What was counted cannot be read, so it is not known here. The rest of the page is as usual. Reason: \(error.message)"
            )
        case nil: break
        }
        return nil
    }

    /// What rules are now, as the database says it: nothing else decides it. Those that are not known are left out.
    mutating func statuses(of rules: [Rule], in policy: Policy) throws -> [String: RuleStatus] {
        guard let session = try session else { return [:] }
        let read = try CountReader(session).attempt { _ in
            try PolicyReader.version(session).token == policy.token
                ? RuleStatus.all(session, keys: rules.map(\.key)) : nil
        }
        let reason: String
        switch read {
        case .success(let statuses?): return statuses
        case .success(nil): reason = "the database has a different revision from the one that answers"
        case .failure(let error): reason = error.message
        }
        note("The status of each rule is not known. The rest of the page is as usual. Reason: \(reason)")
        return [:]
    }

    /// Whether no server sends lockouts as such: under the brake of this one others may do so all the same.
    func isBraked(_ servers: [ServerSession]?) -> Bool {
        guard let servers, !servers.isEmpty else { return !facts.sendsLockouts }
        return servers.allSatisfy(\.isBraked)
    }

    func present(_ rule: Rule, _ statuses: [String: RuleStatus], share: LockoutShare? = nil) -> PresentRule {
        PresentRule(rule, statuses[rule.key], share: share, sendsLockouts: facts.sendsLockouts)
    }

    /// Adds the changes that a filter selects, or why they are not shown.
    ///
    /// - Parameter none: What is said where there are none.
    /// - Returns: The changes; nil: they are not known. The last one of the limit tells that there are more, and is not shown.
    @discardableResult
    mutating func addChanges(_ filter: HistoryFilter, rowsPerChange: Int, none: String) throws -> [PolicyChange]? {
        guard let session = try session else {
            add(.text("Not known here; the notice above says why."))
            return nil
        }
        let history = try PolicyHistory(session, rowsPerChange: rowsPerChange)
        guard try !DatabaseStatus.Hidden.history.isHidden(session) else {
            add(.note(Self.forbidden("the history", role: try history.role())))
            return nil
        }
        let changes = try history.changes(filter)
        add(.changes(Array(changes.prefix(filter.limit.map { $0 - 1 } ?? changes.count)), ifEmpty: none))
        return changes
    }
}

// MARK: - Notes

extension Page {
    /// What keeps the page from being whole, as text.
    var reasons: String { notes.map(\.text.plain).joined(separator: " ") }

    private mutating func note(_ text: Sentence, remedy: String? = nil) {
        notes.append(Report.Note(.fault, text, remedy: remedy))
    }

    mutating func noteForbidden(_ what: String, role: String) { notes.append(Self.forbidden(what, role: role)) }

    /// That a role may not read something, and what would let it: by default it reads the policy, and no more.
    private static func forbidden(_ what: String, role: String) -> Report.Note {
        let isPlain = role.wholeMatch(of: #/[a-z_0-9]+/#) != nil
        let name = isPlain ? role : (try? PostgresIdentifier(role)).map { "\($0)" } ?? "ROLE"
        return Report.Note(
            .hint,
            "The role of this server, \(role), may not read \(what). Somebody who administers roles can allow it:",
            remedy: "GRANT versiongate_viewer TO \(name);"
        )
    }

    private mutating func note(_ fault: PageDatabase.Fault) {
        switch fault {
        case .away(let reason):
            let since: Sentence =
                facts.lastPolledAt.map { time -> Sentence in "It last answered at \(time: time)." }
                ?? "It has not answered since this server started."
            let revision =
                facts.policy.map { " Checks are answered from the policy in memory, revision \($0.revision)." } ?? ""
            note(
                "The database is away. \(since)\(revision) What was counted and what changed is not shown meanwhile. Reason: \(reason). To stop lockouts without the database, on this machine, and likewise on that of every other server:",
                remedy: facts.brakeCommand
            )
        case .tooSlow:
            note(
                "The database took longer than \(PageDatabase.statementTimeout.components.seconds) s for the figures, so this page is without them. What it shows is the policy in memory. Reload to try again."
            )
        case .forbidden(let role, let detail): noteForbidden("what this page shows (\(detail))", role: role)
        case .refused(let message): note("The database refused the figures of this page: \(message)")
        }
    }
}

extension Response {
    /// What every answer of the pages has.
    ///
    /// A page loads what this listener serves and nothing else, is shown in no frame, and tells nobody its address.
    private static let commonFields: HTTPFields = [
        .contentSecurityPolicy:
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        HTTPField.Name("Referrer-Policy")!: "no-referrer", .xContentTypeOptions: "nosniff",
        HTTPField.Name("Cross-Origin-Resource-Policy")!: "same-origin",
        HTTPField.Name("Cross-Origin-Opener-Policy")!: "same-origin", .cacheControl: "no-store",
    ]

    /// A page, or a part of one.
    static func page(
        _ status: HTTPResponse.Status,
        _ contentType: String,
        _ text: String,
        _ fields: HTTPFields = [:]
    ) -> Response {
        var headers = commonFields
        headers[.contentType] = "\(contentType); charset=utf-8"
        for field in fields { headers[field.name] = field.value }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// A line of text for whoever gets no page.
    package static func text(_ status: HTTPResponse.Status, _ text: String, _ fields: HTTPFields = [:]) -> Response {
        page(status, "text/plain", text, fields)
    }
}

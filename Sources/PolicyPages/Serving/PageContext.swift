import HTTPTypes
import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// What every page shows: the database, the revision, and what keeps the page from being whole.
struct PageContext: Sendable {
    let facts: ServerFacts
    let now: Timestamp
    private(set) var notes: [Report.Note] = []

    init(facts: ServerFacts, now: Timestamp) {
        self.facts = facts
        self.now = now
        if facts.policy == nil { note("This server has no policy yet: checks are answered without messages.") }
        for fault in facts.faults { note(Sentence(fault.text), remedy: fault.remedy) }
        if facts.isFromDisk { note("The policy was read from this machine's disk.") }
    }

    // MARK: - The policy in memory

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

    /// An app with all that belongs to it.
    func section(ofApp bundle: String) throws(PageProblem) -> (app: App, section: PolicySection) {
        if let section = facts.policy?.section(ofApp: bundle), let app = section.app { return (app, section) }
        let bundles = facts.policy?.sections.compactMap { $0.app?.bundle } ?? []
        throw PageProblem(
            404, "There is no such app",
            "The policy of this server has no app \(bundle).\(Self.suggestion(bundle, bundles))"
                + (bundle.isBundleIdentifier ? " To add it: \(PrintedCommand("app add \(bundle.shellOperand)"))" : "")
        )
    }

    /// A rule, and its app if it is for one.
    func rule(_ key: String) throws(PageProblem) -> (rule: Rule, app: App?) {
        let sections = facts.policy?.sections ?? []
        for section in sections {
            if let rule = section.rules.first(where: { UTF8Text($0.key) == UTF8Text(key) }) {
                return (rule, section.app)
            }
        }
        throw PageProblem(
            404, "There is no such rule",
            "The policy of this server has no rule \(key)."
                + Self.suggestion(key, sections.flatMap { $0.rules.map(\.key) })
                + " What became of it: \(PrintedCommand("history \(key.shellWord)"))"
        )
    }

    private static func suggestion(_ name: String, _ names: [String]) -> String {
        SimilarNames.of(name, among: names).first.map { " Did you mean \($0)?" } ?? ""
    }

    // MARK: - Notes

    /// What keeps the page from being whole, as text.
    var reasons: String { notes.map(\.text.plain).joined(separator: " ") }

    private mutating func note(_ text: Sentence, remedy: String = "") {
        notes.append(Report.Note(.fault, text, remedy: remedy.isEmpty ? nil : remedy))
    }

    /// Notes why the page has no figures.
    mutating func note(_ fault: PageDatabase.Fault) {
        switch fault {
        case .away(let reason):
            let since: Sentence =
                facts.lastPolledAt.map { time -> Sentence in "It last answered at \(time: time)." }
                ?? "It has not answered since the start."
            let revision =
                facts.policy.map { " Checks are answered from the policy in memory, revision \($0.revision)." } ?? ""
            note(
                "The database is away. \(since)\(revision) What was counted and what changed is not shown meanwhile. Reason: \(reason). To stop lockouts without the database, on this machine, and so on that of each server:",
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

    /// Notes why what was counted is not shown; nil: it is.
    mutating func noteCounts(_ reason: String?) {
        guard let reason else { return }
        note(
            "What was counted cannot be read, so it is not known here. The rest of the page is as always. Reason: \(reason)"
        )
    }

    /// Notes why it is not shown what each rule is now; nil: it is.
    mutating func noteStatuses(_ reason: String?) {
        guard let reason else { return }
        note("What each rule is now cannot be said. The rest of the page is as always. Reason: \(reason)")
    }

    /// Notes that the server's role may not read something, and what would let it: by default it reads the policy, and no
    /// more.
    mutating func noteForbidden(_ what: String, role: String) { notes.append(Self.forbidden(what, role: role)) }

    static func forbidden(_ what: String, role: String) -> Report.Note {
        let isPlain = role.wholeMatch(of: #/[a-z_0-9]+/#) != nil
        let name = isPlain ? role : (try? PostgresIdentifier(role)).map { "\($0)" } ?? "ROLE"
        return Report.Note(
            .hint,
            "The role of this server, \(role), may not read \(what). Somebody who administers roles can let it:",
            remedy: "GRANT versiongate_viewer TO \(name);"
        )
    }

    // MARK: - Answers

    /// A page.
    ///
    /// - Parameters:
    ///   - title: Its title.
    ///   - heading: nil: the title.
    ///   - entry: The path of the entry of the navigation that it belongs to.
    func page(
        _ title: String,
        heading: Sentence? = nil,
        in entry: String? = nil,
        refreshes: Bool = true,
        status: HTTPResponse.Status = .ok,
        fields: HTTPFields = [:],
        _ body: PageBody
    ) -> Response {
        let entries = [
            ("Overview", "/"), ("Apps", "/apps"), ("Rules", "/rules"), ("Try a check", "/try"), ("History", "/history"),
            ("Unknowns", "/unknowns"),
        ].map { Link($0, $1, isCurrent: $1 == entry).view }
        return .page(
            status, "text/html",
            PageTemplates.all.text(
                "layout",
                [
                    "title": title, "heading": view(heading ?? Sentence(title)), "entries": entries,
                    "database": facts.databaseAddress ?? "not reached since the start",
                    "revision": facts.policy.map { "\($0.revision)" } ?? "none",
                    "source": facts.isFromDisk ? "from disk" : "from the database",
                    "loaded": facts.loadedAt.map { view(Sentence([.time($0)])) }, "made": view(Sentence([.time(now)])),
                    "madeAt": now, "refreshes": refreshes, "sections": body.sections(in: self),
                ]
            ),
            fields
        )
    }

    /// A page that says why there is no other.
    func problem(_ problem: PageProblem) -> Response {
        var body = PageBody(notes)
        body.add([.text(Sentence(problem.text))])
        body.add(links: [Link("Back to the overview", "/")])
        return page(
            problem.title, refreshes: false, status: HTTPResponse.Status(code: problem.status),
            fields: problem.status == 503 ? [.retryAfter: "5"] : [:], body
        )
    }
}

import PolicyStore
import Postgres
import UpdatePolicy

/// What every page shows: the database, the revision, and what keeps the page from being whole.
struct PageScene: Sendable {
    let facts: ServerFacts
    let now: Timestamp
    private var notices: [Notice] = []

    /// Words of changes, with times in UTC.
    static let words = ChangeWords { NumberText.minute($0) }

    init(facts: ServerFacts, now: Timestamp) {
        self.facts = facts
        self.now = now
        if facts.policy == nil { note("This server has no policy yet: checks are answered without messages.") }
        for fault in facts.faults { note(fault.text, remedy: fault.remedy) }
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
            404,
            "There is no such app",
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
            404,
            "There is no such rule",
            "The policy of this server has no rule \(key)."
                + Self.suggestion(key, sections.flatMap { $0.rules.map(\.key) })
                + " What became of it: \(PrintedCommand("history \(key.shellWord)"))"
        )
    }

    private static func suggestion(_ name: String, _ names: [String]) -> String {
        SimilarNames.of(name, among: names).first.map { " Did you mean \($0)?" } ?? ""
    }

    // MARK: - Notices

    /// Something that whoever reads should know first.
    private struct Notice {
        /// `fault` or `hint`, for the style sheet.
        var kind = "fault"
        let text: String
        /// What to do about it, as a command or SQL; empty: nothing.
        var remedy = ""

        var view: JSONValue { ["kind": kind, "text": text, "remedy": remedy] }
    }

    /// What keeps the page from being whole, as text.
    var reasons: String { notices.map(\.text).joined(separator: " ") }

    private mutating func note(_ text: String, remedy: String = "") {
        notices.append(Notice(text: text, remedy: remedy))
    }

    /// Notes why the page has no figures.
    mutating func note(_ fault: PageDatabase.Fault) {
        switch fault {
        case .away(let reason):
            let since =
                facts.lastPolledAt.map { "It last answered at \(NumberText.minute($0))." }
                ?? "It has not answered since the start."
            let revision =
                facts.policy.map { " Checks are answered from the policy in memory, revision \($0.revision)." } ?? ""
            note(
                "The database is away. \(since)\(revision) What was counted and what changed is not shown meanwhile."
                    + " Reason: \(reason). To stop lockouts without the database, on this machine, and so on that of each server:",
                remedy: facts.brakeCommand
            )
        case .tooSlow:
            let seconds = PageDatabase.statementTimeout.components.seconds
            note(
                "The database took longer than \(seconds) s for the figures, so this page is without them. What it"
                    + " shows is the policy in memory. Reload to try again."
            )
        case .forbidden(let role, let detail): noteForbidden("what this page shows (\(detail))", role: role)
        case .refused(let message): note("The database refused the figures of this page: \(message)")
        }
    }

    /// Notes why what was counted is not shown; nil: it is.
    mutating func note(countsFault reason: String?) {
        guard let reason else { return }
        note(
            "What was counted cannot be read, so it is not known here. The rest of the page is as always. Reason: \(reason)"
        )
    }

    /// Notes why it is not shown what each rule is now; nil: it is.
    mutating func note(statusFault reason: String?) {
        guard let reason else { return }
        note("What each rule is now cannot be said. The rest of the page is as always. Reason: \(reason)")
    }

    /// Notes that a clock is off: what begins or ends does so by that of the server.
    mutating func note(clockFault text: String) { note(text) }

    /// Notes that the server's role may not read something.
    mutating func noteForbidden(_ what: String, role: String) {
        notices.append(Self.forbidden(what, role: role))
    }

    /// That the server's role may not read something, and what would let it: by default it reads the policy, and no more.
    private static func forbidden(_ what: String, role: String) -> Notice {
        let isPlain = role.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || $0 == "_" || ("0"..."9").contains($0)
        }
        let name = isPlain ? role : (try? PostgresIdentifier(role)).map { "\($0)" } ?? "ROLE"
        return Notice(
            kind: "hint",
            text: "The role of this server, \(role), may not read \(what). Somebody who administers roles can let it:",
            remedy: "GRANT versiongate_viewer TO \(name);"
        )
    }

    // MARK: - For templates

    /// A time in UTC, with its distance from now.
    func time(_ time: Timestamp) -> JSONValue {
        [
            "iso": time, "text": NumberText.minute(time),
            "distance": time == now ? "now" : time.distance(from: now) ?? "",
        ]
    }

    /// Changes, or why they are not shown, for the template `changes`.
    ///
    /// - Parameters:
    ///   - changes: nil: they are not known.
    ///   - none: What is said where there are none.
    ///   - role: The role from which they are hidden; nil: a notice says why they are not known.
    func history(_ changes: [PolicyChange]?, none: String, hiddenFrom role: String?) -> JSONValue {
        [
            "isKnown": changes != nil, "changes": changes?.map(change), "none": none,
            "hidden": role.map { Self.forbidden("the history", role: $0).view },
        ]
    }

    /// The frame of a page, for the template `layout`.
    ///
    /// - Parameters:
    ///   - title: nil: that of the entry.
    ///   - entry: The entry of the navigation that the page belongs to; nil: none.
    func frame(_ title: String? = nil, in entry: PageRoute?, refreshes: Bool = true) -> JSONValue {
        let entries = PageRoute.entries.map { route, title -> JSONValue in
            ["address": route.path, "name": title, "isCurrent": route == entry]
        }
        return [
            "title": title ?? PageRoute.entries.first { $0.route == entry }?.title, "entries": entries,
            "database": facts.databaseAddress ?? "not reached since the start",
            "revision": facts.policy.map { "\($0.revision)" } ?? "none",
            "source": facts.isFromDisk ? "from disk" : "from the database", "loaded": facts.loadedAt.map(time),
            "now": time(now), "notices": notices.map(\.view), "refreshes": refreshes,
        ]
    }

    /// A page that says why there is no other.
    func problem(_ problem: PageProblem) -> PageResponse {
        PageTemplates.all.page(
            "problem", ["frame": frame(problem.title, in: nil, refreshes: false), "text": problem.text],
            status: problem.status, fields: problem.status == 503 ? [(name: "Retry-After", value: "5")] : []
        )
    }

    /// A way to edit what a page shows: a command, and the same in SQL.
    static func edit(_ what: String, _ command: String, sql: String) -> JSONValue {
        ["what": what, "command": PrintedCommand.text(command), "sql": sql]
    }
}

/// The length of time that charts cover, as the query has it.
struct PagePeriod {
    let days: Int

    private static let all = [1, 7, 30, 90, 365]
    private static let usual = 30

    init(_ members: [(name: String, value: String)]) throws(PageProblem) {
        let text = members.first { $0.name == "days" }?.value ?? "\(Self.usual)"
        guard let days = Int(text), Self.all.contains(days) else {
            let choices = Self.all.map(String.init).joined(separator: ", ")
            throw PageProblem(400, "This length of time is not shown", "days is \"\(text)\"; it may be \(choices).")
        }
        self.days = days
    }

    /// The lengths that there are, as addresses of the same page, for the template `charts`.
    func choices(_ route: PageRoute) -> JSONValue {
        let choices = Self.all.map { days -> JSONValue in
            [
                "address": "\(route.path)?days=\(days)",
                "name": days == 1 ? "1 day" : days == 365 ? "1 year" : "\(days) days", "isCurrent": days == self.days,
            ]
        }
        return ["choices": choices]
    }
}

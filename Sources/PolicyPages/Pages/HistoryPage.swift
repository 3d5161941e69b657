import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `/history`: every change with before and after, or those that a form selects, as the command `history` does.
struct HistoryPage: Page {
    struct Figures: Sendable {
        let role: String
        /// Nil: the role may not read it.
        let changes: [PolicyChange]?
        /// The role that may not read it.
        var hiddenFrom: String? { changes == nil ? role : nil }

        init(_ session: PostgresSession, _ filter: HistoryFilter, rowsPerChange: Int) throws {
            role = try PolicyHistory(session).role()
            changes =
                try DatabaseStatus.Hidden.history.isHidden(session)
                ? nil : try PolicyHistory(session, rowsPerChange: rowsPerChange).changes(filter)
        }

        init(role: String, changes: [PolicyChange]?) {
            self.role = role
            self.changes = changes
        }
    }

    private static let length = 25
    /// The members of the form, each with its label and an example.
    private static let inputs = [
        ("about", "Rule, app or number of a change", "com.example.doto"),
        ("since", "Since, in UTC", "2026-11-22 14:05"),
        ("until", "Until, in UTC", "2026-11-23"), ("by", "By", "anna"), ("search", "With this text", "crash"),
    ]

    private let values: [String: String]
    private var filter = HistoryFilter(limit: Self.length + 1)

    init(_ question: PageQuestion) throws {
        values = question.members.filter { name, _ in Self.inputs.contains { $0.0 == name } }
        filter.subject = question.value("about")
        filter.author = question.value("by")
        filter.search = question.value("search")
        filter.since = try question.time("since")
        filter.until = try question.time("until")
        if let text = question.members["before"] {
            guard let before = Int64(text), before > 0 else {
                throw PageProblem(
                    400, "This change cannot be read", "before is \"\(text)\"; it must be the number of a change."
                )
            }
            filter.before = before
        }
    }

    func figures(_ session: PostgresSession) throws -> Figures { try Figures(session, filter, rowsPerChange: 10) }

    func response(_ figures: Figures?, _ context: PageContext) -> Response {
        let shown = figures?.changes.map { Array($0.prefix(Self.length)) }
        let query = Self.inputs.compactMap { name, _, _ in
            values[name].flatMap { $0.isEmpty ? nil : "\(name)=\($0.percentEncoded)" }
        }
        func address(_ members: [String]) -> String {
            (query + members).isEmpty ? "/history" : "/history?" + (query + members).joined(separator: "&")
        }
        var body = PageBody(context.notes)
        body.add(
            "form",
            [
                "action": "/history", "button": "Show", "explanation": "Empty fields select everything.",
                "inputs": Self.inputs.map { name, label, hint in
                    ["id": name, "name": name, "label": label, "hint": hint, "value": values[name]] as JSONValue
                },
            ]
        )
        if let subject = filter.subject, context.facts.policy?.section(ofApp: subject) != nil {
            body.add(.text("Changes of the app \(subject, .app(subject))"))
        } else if let subject = filter.subject, (try? context.rule(subject)) != nil {
            body.add(.text("Changes of the rule \(subject, .rule(subject))"))
        }
        body.add(.heading("Changes, the newest first", id: "changes"))
        body.add(
            history: shown, none: query.isEmpty ? "Nothing was changed yet." : "No change is as the form says.",
            hiddenFrom: figures?.hiddenFrom
        )
        let hasMore = (figures?.changes?.count ?? 0) > Self.length
        body.add(
            links: (filter.before == nil ? [] : [Link("Newest", address([]))])
                + (hasMore ? [Link("Older", address(["before=\(shown?.last?.id ?? 0)"]))] : [])
        )
        return context.page("History", in: "/history", status: figures == nil ? .serviceUnavailable : .ok, body)
    }
}

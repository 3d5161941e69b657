import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

extension Page {
    private static let mostChanges = 25

    private static let historyInputs = [
        ("about", "Rule, app or number of a change", "com.example.doto", ""),
        ("since", "Since, in UTC", "2026-11-22 14:05", ""), ("until", "Until, in UTC", "2026-11-23", ""),
        ("by", "By", "anna", ""), ("search", "With this text", "crash", ""),
    ]

    /// `/history`: every change with before and after, or those that a form selects, as the command `history` does.
    mutating func history() throws -> Response {
        let before = try question.number(
            "before", from: 1, "This change cannot be read", "the number of a change"
        )
        let filter = HistoryFilter(
            subject: question.value("about"), since: try question.time("since"), until: try question.time("until"),
            author: question.value("by"), search: question.value("search"), before: before, limit: Self.mostChanges + 1
        )
        let query = Self.historyInputs.compactMap { name, _, _, _ in
            question.value(name).map { "\(name)=\($0.percentEncoded)" }
        }
        func address(_ members: [String]) -> String {
            (query + members).isEmpty ? "/history" : "/history?" + (query + members).joined(separator: "&")
        }
        add(form: "/history", "Show", "Empty fields select everything.", Self.historyInputs)
        if let subject = filter.subject, facts.policy?.section(ofApp: subject) != nil {
            add(.text("Changes of the app \(subject, .app(subject))"))
        } else if let subject = filter.subject, rule(subject) != nil {
            add(.text("Changes of the rule \(subject, .rule(subject))"))
        }
        add(.heading("Changes, the newest first", id: "changes"))
        let none = query.isEmpty ? "Nothing has been changed yet." : "No change matches the form."
        let changes = try addChanges(filter, rowsPerChange: 10, none: none) ?? []
        var links = before == nil ? [] : [Self.link("Newest", address([]))]
        if changes.count > Self.mostChanges {
            links.append(Self.link("Older", address(["before=\(changes[Self.mostChanges - 1].id)"])))
        }
        add(links: links)
        return response("History", in: "/history", status: try session == nil ? .serviceUnavailable : .ok)
    }
}

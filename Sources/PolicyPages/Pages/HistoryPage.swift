import PolicyStore
import Postgres
import UpdatePolicy

/// `/history`: every change, with before and after.
struct HistoryPage: Page {
    struct Figures: Sendable {
        let role: String
        /// Nil: the role may not read it.
        let changes: [PolicyChange]?

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

    private let rule: String?
    /// The id of the change before which those that are shown are; nil: the newest.
    private let before: Int64?

    init(_ members: [(name: String, value: String)]) throws(PageProblem) {
        rule = members.first { $0.name == "rule" && !$0.value.isEmpty }?.value
        let text = members.first { $0.name == "before" }?.value
        before = text.flatMap { Int64($0) }
        if let text, before.map({ $0 > 0 }) != true {
            throw PageProblem(
                400, "This change cannot be read", "before is \"\(text)\"; it must be the number of a change."
            )
        }
    }

    /// The address of the changes of a rule.
    static func address(ofRule key: String) -> String { "\(PageRoute.history.path)?rule=\(key.percentEncoded)" }

    func figures(_ session: PostgresSession) throws -> Figures {
        try Figures(session, HistoryFilter(rule: rule, before: before, limit: Self.length + 1), rowsPerChange: 10)
    }

    func response(_ figures: Figures?, _ scene: PageScene) -> PageResponse {
        let shown = figures?.changes.map { Array($0.prefix(Self.length)) }
        let hasMore = (figures?.changes?.count ?? 0) > Self.length
        let address = rule.map(Self.address) ?? PageRoute.history.path
        let view: JSONValue = [
            "frame": scene.frame(in: .history), "rule": rule, "ruleAddress": rule.map { PageRoute.rule($0).path },
            "history": scene.history(
                shown, none: "Nothing was changed yet.", hiddenFrom: figures?.changes == nil ? figures?.role : nil
            ),
            "newest": before.map { _ in address },
            "older": hasMore ? "\(address)\(rule == nil ? "?" : "&")before=\(shown?.last?.id ?? 0)" : nil,
        ]
        return PageTemplates.all.page("history", view, status: figures == nil ? 503 : 200)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres
import UpdatePolicy

/// `/history`: every change, with before and after.
struct HistoryPage {
    /// Which changes are shown.
    struct Filter {
        private(set) var rule: String?
        private(set) var before: Int64?

        init(_ members: [(name: String, value: String)]) throws(PageProblem) {
            rule = members.first { $0.name == "rule" && !$0.value.isEmpty }?.value
            guard let text = members.first(where: { $0.name == "before" })?.value else { return }
            guard let id = Int64(text), id > 0 else {
                throw PageProblem(
                    400,
                    "This change cannot be read",
                    "before is \"\(text)\"; it must be the number of a change."
                )
            }
            before = id
        }
    }

    /// What is read from the database.
    struct Figures: Sendable {
        let role: String
        /// Nil: the role may not read it.
        let changes: [PolicyChange]?
    }

    private struct View {
        let frame: PageScene.Frame
        let rule: String
        let ruleAddress: String
        let changes: [ChangeView]
        let showsChanges: Bool
        let isEmpty: Bool
        let newest: String
        let older: String
        let hidden: [PageScene.Notice]
    }

    fileprivate static let length = 25
    fileprivate static let rowsPerChange = 10

    private let filter: Filter
    private let figures: Figures?
    private let scene: PageScene

    init(_ filter: HistoryPage.Filter, _ figures: Figures?, _ scene: PageScene) {
        self.filter = filter
        self.figures = figures
        self.scene = scene
    }

    var response: PageResponse {
        let changes = figures?.changes ?? []
        let shown = changes.prefix(Self.length)
        let address = "/history?" + (filter.rule.map { "rule=\(Address.encoded($0))&" } ?? "")
        let view = View(
            frame: scene.frame("History", section: "/history"),
            rule: filter.rule ?? "",
            ruleAddress: filter.rule.map(Address.rule) ?? "",
            changes: shown.map { ChangeView($0, scene) },
            showsChanges: figures?.changes != nil,
            isEmpty: changes.isEmpty,
            newest: filter.before == nil ? "" : String(address.dropLast()),
            older: changes.count > Self.length ? "\(address)before=\(shown.last?.id ?? 0)" : "",
            hidden: figures.map { $0.changes == nil ? [PageScene.forbidden("the history", role: $0.role)] : [] } ?? []
        )
        return PageTemplates.all.page("history", view, status: figures == nil ? 503 : 200)
    }
}

extension HistoryPage.Figures {
    init(_ filter: HistoryPage.Filter, _ session: PostgresSession) throws {
        role = try session.query("SELECT session_user::text").value(as: String.self)
        changes =
            try DatabaseStatus.Hidden.history.isHidden(session)
            ? nil
            : try PolicyHistory(session, rowsPerChange: HistoryPage.rowsPerChange).changes(
                HistoryFilter(rule: filter.rule, before: filter.before, limit: HistoryPage.length + 1)
            )
    }
}

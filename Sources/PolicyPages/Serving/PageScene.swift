// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import PolicyStore
import Postgres
import UpdatePolicy

/// What every page shows: the database, the revision, and what keeps the page from being whole.
struct PageScene {
    /// Something that whoever reads should know first.
    struct Notice {
        /// `fault` or `hint`, for the style sheet.
        let kind: String
        let text: String
        /// What to do about it, as a command or SQL; empty: nothing.
        var remedy = ""
    }

    /// The head of a page, for the template `layout`.
    struct Frame {
        struct Entry {
            let address: String
            let name: String
            let isCurrent: Bool
        }

        let title: String
        let entries: [Entry]
        let database: String
        let revision: String
        let source: String
        let loaded: [PageTime]
        let now: PageTime
        let notices: [Notice]
        let refreshes: Bool
    }

    let facts: ServerFacts
    let now: Timestamp
    private(set) var notices: [Notice] = []

    init(facts: ServerFacts, now: Timestamp) {
        self.facts = facts
        self.now = now
        if facts.policy == nil {
            let text = "This server has no policy yet: checks are answered without messages."
            notices.append(Notice(kind: "fault", text: text))
        }
        notices += facts.faults.map { Notice(kind: "fault", text: $0.text, remedy: $0.remedy) }
        if facts.isFromDisk {
            let text = "The policy was read from this machine's disk, because the database was away at the start."
            notices.append(Notice(kind: "fault", text: text))
        }
    }

    /// The rows of the policy in memory that decide about the rules of an app, or of all apps.
    func policy(ofApp bundle: String?) -> Policy {
        let all = facts.policy?.sections ?? []
        let sections =
            bundle.flatMap { facts.policy?.section(ofApp: $0) }.map { [$0] + all.filter { $0.app == nil } } ?? all
        return Policy(
            revision: facts.policy?.revision ?? 0,
            token: facts.policy?.token ?? "",
            apps: sections.compactMap(\.app),
            releases: sections.flatMap(\.releases),
            rules: sections.flatMap(\.rules)
        )
    }

    func time(_ time: Timestamp) -> PageTime { PageTime(time, now: now) }

    /// Words of changes, with times in UTC.
    static let words = ChangeWords { PageTime.text($0) }

    /// Notes why the page has no figures.
    mutating func note(_ fault: PageDatabase.Fault) {
        switch fault {
        case .away(let reason):
            let since =
                facts.lastPolledAt.map { "It last answered at \(PageTime.text($0))." }
                ?? "It has not answered since the start."
            let revision =
                facts.policy.map { " Checks are answered from the policy in memory, revision \($0.revision)." } ?? ""
            let text =
                "The database is away. \(since)\(revision) What was counted and what changed is not shown meanwhile. Reason: \(reason)"
            notices.append(Notice(kind: "fault", text: text))
        case .tooSlow:
            let seconds = PageDatabase.statementTimeout.components.seconds
            let text =
                "The database took longer than \(seconds) s for the figures, so this page is without them. What it shows is the policy in memory. Reload to try again."
            notices.append(Notice(kind: "fault", text: text))
        case .forbidden(let role, let detail):
            notices.append(Self.forbidden("what this page shows (\(detail))", role: role))
        case .refused(let message):
            notices.append(Notice(kind: "fault", text: "The database refused the figures of this page: \(message)"))
        }
    }

    /// Notes why what was counted is not shown; nil: it is.
    mutating func note(countsFault reason: String?) {
        guard let reason else { return }
        notices.append(
            Notice(
                kind: "fault",
                text: "What was counted cannot be read, so it is not known here. The rest of the page is as always."
                    + " Reason: \(reason)"
            )
        )
    }

    /// That the server's role may not read something, and what would let it: by default it reads the policy, and no more.
    static func forbidden(_ what: String, role: String) -> Notice {
        let name =
            role.unicodeScalars.allSatisfy { ("a"..."z").contains($0) || $0 == "_" || ("0"..."9").contains($0) }
            ? role : (try? PostgresIdentifier(role)).map { "\($0)" } ?? "ROLE"
        return Notice(
            kind: "hint",
            text: "The role of this server, \(role), may not read \(what). Somebody who administers roles can let it:",
            remedy: "GRANT versiongate_viewer TO \(name);"
        )
    }

    mutating func note(_ notice: Notice) { notices.append(notice) }

    /// - Parameter section: The address of the entry of the navigation that the page belongs to.
    func frame(_ title: String, section: String, refreshes: Bool = true) -> Frame {
        let entries = [
            ("/", "Overview"), ("/try", "Try a check"), ("/history", "History"), ("/unknowns", "Unknowns"),
        ]
        return Frame(
            title: title,
            entries: entries.map { Frame.Entry(address: $0, name: $1, isCurrent: $0 == section) },
            database: facts.databaseAddress ?? "not reached since the start",
            revision: facts.policy.map { "\($0.revision)" } ?? "none",
            source: facts.isFromDisk ? "from disk" : "from the database",
            loaded: facts.loadedAt.map { [time($0)] } ?? [],
            now: time(now),
            notices: notices,
            refreshes: refreshes
        )
    }

    /// A page that says why there is no other.
    func problem(_ status: Int, _ title: String, _ text: String) -> PageResponse {
        struct View {
            let frame: Frame
            let text: String
        }
        let fields = status == 503 ? [(name: "Retry-After", value: "5")] : []
        let view = View(frame: frame(title, section: "", refreshes: false), text: text)
        return PageTemplates.all.page("problem", view, status: status, fields: fields)
    }
}

/// A way to edit what a page shows: the command, and the same in SQL.
struct EditView {
    let what: String
    let command: String
    let sql: String
}

/// A chart as templates show it.
struct ChartView {
    let name: String
    let question: String
    let answer: String
    let isEmpty: Bool
    let svg: String
    let table: String
    let csv: String
}

/// A length of time that charts can cover.
struct DaysView {
    let address: String
    let name: String
    let isCurrent: Bool

    static func all(_ address: String, current: Int) -> [DaysView] {
        PageRoute.allDays.map { days in
            DaysView(
                address: "\(address)?days=\(days)",
                name: days == 1 ? "1 day" : days == 365 ? "1 year" : "\(days) days",
                isCurrent: days == current
            )
        }
    }
}

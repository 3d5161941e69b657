import PolicyStore
import Reports
import UpdatePolicy

struct EditImpact: Sendable {
    /// The comparison; nothing is known from it where no checks were counted.
    let impact: PolicyImpact
    /// The apps in which lockouts may be added, by the rows alone.
    private let lockouts: AppsWithNewLockouts
    private let reach: DryRun.Reach

    /// The largest share of recent checks that may be newly locked out without approval.
    private static let approvalThreshold = 0.01

    private var recent: RecentChecks { reach.checks }
    private var time: Timestamp { reach.time }

    init(of reach: DryRun.Reach) throws(PolicyError) {
        self.reach = reach
        impact = PolicyImpact(
            from: try CompiledPolicy(Self.whatDecides(reach.before, reach.checks)),
            to: try CompiledPolicy(Self.whatDecides(reach.after, reach.checks)), clients: reach.checks.clients,
            at: reach.time
        )
        lockouts = AppsWithNewLockouts(from: reach.before, to: reach.after, at: reach.time)
    }

    /// A policy without the rules and texts that make no difference, which compiles faster.
    private static func whatDecides(_ policy: Policy, _ recent: RecentChecks) -> Policy {
        var policy = policy
        policy.rules = recent.isEmpty ? [] : policy.rules.filter(\.enabled)
        for index in policy.rules.indices { policy.rules[index].texts = [] }
        return policy
    }

    var approvalReason: String? {
        if let largest = impact.largestLockout, largest.share > Self.approvalThreshold {
            let whole = Double(largest.checks)
            let isLater = largest.now == 0
            let first = isLater ? largest.later?.checks ?? 0 : largest.now
            let later = largest.later.map { step in
                (isLater ? "" : ", and up to \(NumberText.share(step.checks, of: whole))")
                    + " from \(TimeText.local(step.at))"
                    + (step.rules.isEmpty ? "" : " by \(step.rules.joined(separator: " and ").visible())")
            }
            // What is so at once is said first, also where another app is worse off later.
            let present = impact.largestLockoutNow.flatMap { now in
                now.bundle != largest.bundle && now.shareNow > Self.approvalThreshold && now.shareNow > largest.shareNow
                    ? "\(NumberText.share(now.now, of: Double(now.checks))) of the recent checks of \(now.bundle.visible()) at once, and"
                        + " up to " : nil
            }
            return
                "this would newly lock out up to \(present ?? "")\(NumberText.share(first, of: whole)) of the recent checks of"
                + " \(largest.bundle.visible())\(later ?? "")"
        }
        return unknownLockout.map { "this may lock somebody out; nobody knows how many, because \($0)" }
    }

    /// Why it is not known how many are locked out; nil where it is, or where none are.
    private var unknownLockout: String? {
        let period = "in the last \(recent.days) days"
        if !recent.isKnown, !lockouts.isEmpty {
            return "the counts of checks could not be read"
        }
        if let bundle = lockouts.bundles.subtracting(impact.rows.map(\.group.bundle)).min() {
            return "no checks of \(bundle) were counted \(period)"
        }
        if lockouts.everyApp, recent.isEmpty { return "no checks were counted \(period)" }
        let merged = recent.merged.filter {
            lockouts.everyApp || lockouts.bundles.contains(ASCII.lowercased($0.bundle))
        }
        guard let most = merged.max(by: { $0.share < $1.share }), most.share > Self.approvalThreshold else {
            return nil
        }
        return
            "\(NumberText.percent(most.share, of: 1)) of the checks of \(most.bundle) \(period) came from too many kinds"
            + " of clients to count separately"
    }

    /// A fuse for the one lockout that the edit adds without one, where it is known what to expect.
    private var fuseProposal: Sentence? {
        let known = Set(reach.before.rules.filter { $0.enabled && $0.lockout }.map(\.key))
        let added = reach.after.rules.filter { $0.enabled && $0.lockout && !known.contains($0.key) }
        guard added.count == 1, added[0].fuse == nil, let largest = impact.largestLockout,
            Double(largest.checks) >= NumberText.fewestJudged
        else { return nil }
        let percent = max(1, Int((200 * largest.share).rounded(.up)))
        guard largest.share > 0, percent < 100 else { return nil }
        return
            "\(added[0].key) has no fuse; to stop it at twice the expected share, add one afterwards: \(command: "rule edit \(added[0].key) --fuse \(percent)%")"
    }

    /// A sentence where only messages change, tables where somebody may be locked out.
    var report: Report {
        guard !recent.isEmpty else {
            let reason: Sentence =
                recent.isKnown
                ? "no checks were counted in the last \(recent.days) days" : "the counts of checks could not be read"
            return Report(at: time, [.text("Impact: not known; \(reason).")])
        }
        let now = impact.now
        guard !lockouts.isEmpty || impact.newLockouts > 0 || now.lockoutsBefore != now.lockoutsAfter else {
            let whole = Double(impact.checks) < NumberText.fewestJudged ? "" : "of \(NumberText.count(impact.checks)) "
            return Report(
                at: time,
                [
                    .text(
                        "Impact: up to \(share(now.messagesAfter)) \(whole)recent checks get a message; before this edit up to \(share(now.messagesBefore))."
                    )
                ] + later + CountNotes.tooFew(impact.checks) + CountNotes.notCounted(impact.uncounted)
            )
        }
        let rows = impact.rows.filter { $0.newLockouts > 0 }.sorted { $0.newLockouts > $1.newLockouts }
        return Report(at: time, [.table(figures)] + later + versions(rows) + notes)
    }

    private func share(_ part: Double) -> String { NumberText.share(part, of: Double(impact.checks)) }

    private var figures: Table {
        let now = impact.now
        let days = recent.days == 1 ? "day" : "\(recent.days) days"
        let checks = impact.checks == 1 ? "the 1 check" : "the \(NumberText.count(impact.checks)) checks"
        return Table(
            caption: "Impact on \(checks) of the last \(days), now and right after this edit:", ifEmpty: "",
            [
                ("with a message", share(now.messagesBefore), share(now.messagesAfter)),
                ("locked out", share(now.lockoutsBefore), share(now.lockoutsAfter)),
                ("newly locked out", "", share(now.newLockouts)),
                ("not locked out: no update available", "", share(now.withoutWayOut)),
            ],
            columns: [
                Column("", isName: true) { .text($0.0) }, Column("Before") { .figure($0.1) },
                Column("After") { .figure($0.2) },
            ]
        )
    }

    private var later: [Report.Part] {
        func note(_ steps: [ImpactStep], _ what: String) -> Report.Part? {
            guard let most = steps.last else { return nil }
            let rules = most.rules.isEmpty ? "" : " by \(most.rules.joined(separator: " and "))"
            let end: Sentence = steps.count > 1 ? ", in \(steps.count) steps from \(time: steps[0].at) on." : "."
            return .hint("Later, by this edit: up to \(share(most.checks)) \(what) from \(time: most.at)\(rules)\(end)")
        }
        let note = note(impact.laterLockouts, "newly locked out") ?? note(impact.laterMessages, "more with a message")
        return [note].compactMap(\.self)
    }

    private func versions(_ rows: [PolicyImpact.Row]) -> [Report.Part] {
        guard impact.newLockouts > 0 else { return [] }
        typealias Row = PolicyImpact.Row
        func share(_ title: String, _ part: @escaping @Sendable (Row) -> Double) -> Column<Row> {
            Column(title) { .figure(NumberText.share(part($0), of: Double($0.checks))) }
        }
        let isOfOneApp = Set(impact.rows.map(\.group.bundle)).count < 2
        let app: [Column<Row>] = isOfOneApp ? [] : [Column("App", isName: true) { .text($0.group.bundle) }]
        let columns: [Column<Row>] = [
            Column("Version", isName: true) { .text($0.group.words[0]) },
            Column("Platform", isName: true) { .text($0.group.words[1]) },
            Column("Checks") { .figure(self.share(Double($0.checks))) },
            share("Newly locked out") { $0.now.newLockouts },
        ]
        let later = impact.laterLockouts.isEmpty ? [] : [share("Or later") { $0.newLockouts }]
        let bar: Column<Row> = Column("") {
            .bar($0.checks > 0 ? $0.newLockouts / Double($0.checks) : 0, isHigh: true)
        }
        let table = Table(ifEmpty: "", Array(rows.prefix(10)), columns: app + columns + later + [bar])
        let more = rows.count - 10
        return [.table(table)] + (more > 0 ? [.hint("and \(more) more")] : [])
    }

    private var notes: [Report.Part] {
        var notes: [Sentence] = []
        if impact.now.withoutWayOut > 0 {
            notes.append(
                "Up to \(share(impact.now.withoutWayOut)) of the checks get the message of a lockout but are not locked out, because there is no update that they can install."
            )
        }
        if !impact.leftOut.isEmpty {
            let conditions = impact.leftOut.map(\.rawValue).sorted().joined(separator: " or ")
            notes.append("Rules with \(conditions) that this edit leaves alone are in none of these figures.")
        }
        if let fuseProposal { notes.append(fuseProposal) }
        return notes.map { .hint($0) } + CountNotes.all(uncounted: impact.uncounted, recent: recent)
            + CountNotes.warnings(
                PreReleaseMatch.matches(among: recent.clients.map(\.counted), releases: reach.after.releases))
    }
}

/// The rows that an edit removes or withdraws, as the question for approval shows them.
struct Removal {
    private let rows: [PolicyChange.Row]
    private let isWithdrawal: Bool

    init?(_ change: PolicyChange) {
        let removed = change.rows.filter { $0.kind == .removed }
        let withdrawn = change.rows.filter { row in
            row.table == PolicyTable.releases.rawValue
                && row.columns.contains { $0.name == "withdrawn_at" && $0.after != nil }
        }
        (isWithdrawal, rows) = removed.isEmpty ? (true, withdrawn) : (false, removed)
        if rows.isEmpty { return nil }
    }

    var reason: String { "this \(isWithdrawal ? "withdraws" : "removes") \(summary)" }

    func text(database: String) -> String {
        let ordered = rows.filter(Self.isActiveLockout) + rows.filter { !Self.isActiveLockout($0) }
        let lines = ordered.prefix(20).map { "  \(Self.name($0))" }
        let more = rows.count - lines.count
        let heading = isWithdrawal ? "Withdraws on \(database.visible()):" : "Removes from \(database.visible()):"
        return ([heading] + lines + (more > 0 ? ["  and \(more) more"] : [])).map {
            Terminal.standardOutput.paragraphs($0, indentation: "    ")
        }.joined(separator: "\n")
    }

    /// The rows by name or, where there are several, by count: `app a, 2 rules (1 is an enabled lockout)`.
    private var summary: String {
        let tables = rows.map(\.table).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return tables.map { table in
            let rows = rows.filter { $0.table == table }
            if rows.count == 1 { return Self.name(rows[0]) }
            let lockouts = rows.count(where: Self.isActiveLockout)
            let text = "\(rows.count) \(ChangeFormatter.noun(table))s"
            guard lockouts > 0 else { return text }
            return "\(text) (\(lockouts == 1 ? "1 is an enabled lockout" : "\(lockouts) are enabled lockouts"))"
        }.joined(separator: ", ")
    }

    private static func isActiveLockout(_ row: PolicyChange.Row) -> Bool {
        isTrue("enabled", in: row) && isTrue("lockout", in: row)
    }

    private static func name(_ row: PolicyChange.Row) -> String {
        let name = ChangeFormatter.name(row).local
        guard row.table == PolicyTable.rules.rawValue else { return name }
        let state = isActiveLockout(row) ? "enabled lockout" : isTrue("enabled", in: row) ? "enabled" : "off"
        let bundle = row.columns.first { $0.name == "bundle" }?.before
        return "\(name) (\(state), \(bundle.map { "app \($0.visible())" } ?? "every app"))"
    }

    private static func isTrue(_ column: String, in row: PolicyChange.Row) -> Bool {
        row.columns.contains { $0.name == column && $0.before == "true" }
    }
}

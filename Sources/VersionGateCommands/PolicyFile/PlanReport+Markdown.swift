import PolicyStore
import UpdatePolicy

extension PlanReport {
    /// The most characters of differences: a comment of GitHub has at most 65,536.
    private static let mostCharacters = 40_000

    /// For a comment of a pull request, without a line break at its end.
    ///
    /// Whatever comes from the policy, from clients or from the database stands in code, where it is neither markup nor a
    /// link nor mentions anybody.
    func markdown(database: String) -> String {
        let title = "### versiongate plan: "
        guard let change else {
            return
                "\(title)no differences\n\nThe policy\(atRevision) of \(Markdown.code(database)) is as the file says."
        }
        var parts = [
            title + Self.counts(change),
            "On \(Markdown.code(database))\(atRevision).",
        ]
        if let reason = impact?.approvalReason { parts.append("**Needs approval:** \(Markdown.code(reason))") }
        if !warnings.isEmpty {
            parts.append("**Warnings**\n\n" + warnings.map { "- \(Markdown.code($0))" }.joined(separator: "\n"))
        }
        let takenBack = takenBack.lines(takenBack.changes)
        if !takenBack.isEmpty {
            let items = takenBack.map { "- \(Markdown.code(String($0.dropFirst(2))))" }
            parts.append("**Takes back**\n\n" + items.joined(separator: "\n"))
        }
        if let impact { parts.append("**Impact**\n\n" + impact.markdown) }
        parts.append("**Differences**\n\n" + differences(change))
        parts.append("To do exactly this: \(Markdown.code(command))")
        return parts.joined(separator: "\n\n")
    }

    /// The command of the last line for people.
    private var command: String { String(ending.split(separator: ": ", maxSplits: 1).last ?? "") }

    private func differences(_ change: PolicyChange) -> String {
        let plain = PlanReport(
            revision: revision, change: change, unchanged: unchanged, ending: ending, audiences: audiences,
            terminal: .file, splitsColumns: true
        )
        let lines = change.rows.flatMap { row in plain.lines(row).map(Self.diffLine) }
        var taken = 0
        let shown = lines.prefix { line in
            taken += line.count + 1
            return taken <= Self.mostCharacters
        }
        let more = lines.count - shown.count
        return Markdown.fenced(Array(shown), language: "diff")
            + (more > 0 ? "\n\nand \(more) more lines, which `\(PrintedCommand("plan FILE"))` shows" : "")
    }

    /// A line with the sign that colours it in its first column.
    private static func diffLine(_ line: String) -> String {
        let text = line.drop { $0 == " " }
        guard line.first == " ", let sign = text.first, sign == "+" || sign == "-", text.dropFirst().first == " " else {
            return line.first == "~" ? "!" + line.dropFirst() : line
        }
        return "\(sign)  \(line.prefix(line.count - text.count))\(text.dropFirst(2))"
    }
}

extension EditImpact {
    /// The impact for Markdown: tables of the figures, and what is to be said of them as code.
    var markdown: String {
        guard !recent.isEmpty else { return "Not known: no checks were counted in the last \(recent.days) days." }
        let whole = Double(impact.checks)
        var parts = [
            "Of the \(NumberText.count(impact.checks)) checks of the last \(recent.days == 1 ? "day" : "\(recent.days) days"), "
                + "now and right after this edit:",
            Markdown.table(["", "before", "after"], figures.map { [$0.name, $0.before, $0.after] }),
        ]
        if !laterLines.isEmpty { parts.append(Markdown.fenced(laterLines, language: "text")) }
        let rows = lockedOutRows
        if !rows.isEmpty {
            let shown = rows.prefix(Self.mostRows)
            parts.append(
                Markdown.table(
                    ["app", "version", "platform", "checks", "newly locked out"],
                    shown.map { row in
                        [
                            Markdown.code(row.group.bundle), Markdown.code(row.group.versionText),
                            Markdown.code(row.group.platformText), NumberText.percent(Double(row.checks), of: whole),
                            NumberText.percent(row.newLockouts, of: Double(row.checks)),
                        ]
                    }
                ) + (rows.count > shown.count ? "\n\nand \(rows.count - shown.count) more versions" : "")
            )
        }
        parts.append(Markdown.fenced(notes.map { $0.visible() }, language: "text"))
        return parts.joined(separator: "\n\n")
    }
}

/// Pieces of GitHub Flavored Markdown.
enum Markdown {
    /// Text as a span of code on one line.
    ///
    /// The fence is longer than any run of backticks in the text; the blanks at both ends are not shown.
    static func code(_ text: String) -> String {
        let text = text.visible()
        guard !text.isEmpty else { return "` `" }
        let fence = String(repeating: "`", count: longestRun(in: text) + 1)
        return "\(fence) \(text) \(fence)"
    }

    /// Lines as a block of code.
    static func fenced(_ lines: [String], language: String) -> String {
        let fence = String(repeating: "`", count: max(3, (lines.map(longestRun).max() ?? 0) + 1))
        return "\(fence)\(language)\n\(lines.joined(separator: "\n"))\n\(fence)"
    }

    /// A table; cells are Markdown on one line. A bar within a cell is escaped, which counts in code as well.
    static func table(_ header: [String], _ rows: [[String]]) -> String {
        let lines = [header, header.enumerated().map { $0.offset == 0 ? "---" : "---:" }] + rows
        return lines.map { cells in
            "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
        }.joined(separator: "\n")
    }

    private static func longestRun(in text: String) -> Int {
        text.utf8.reduce(into: (longest: 0, run: 0)) { state, byte in
            state.run = byte == UInt8(ascii: "`") ? state.run + 1 : 0
            state.longest = max(state.longest, state.run)
        }.longest
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import PolicyStore
import UpdatePolicy

/// Writes rows of a policy as the text of a policy file.
struct PolicyDocumentWriter {
    /// The longest key that YAML allows before its colon on one line, less a margin.
    private static let longestPlainKey = 500
    private(set) var text = ""
    /// Whether the next line is the first of an entry of a list.
    private var beginsItem = false

    /// Writes all rows.
    mutating func write(_ rows: PolicyRows) {
        let links = Dictionary(grouping: rows[.storeLinks]) { $0["bundle"] }
        let releases = Dictionary(grouping: rows[.releases]) { $0["bundle"] }
        let texts = Dictionary(grouping: rows[.ruleTexts]) { $0["rule"] }
        let steps = Dictionary(grouping: rows[.rolloutSteps]) { $0["rule"] }
        line("versiongate: \(PolicyDocument.format)", depth: 0)
        if !rows[.apps].isEmpty {
            text += "\n"
            line("apps:", depth: 0)
        }
        for (place, app) in rows[.apps].enumerated() {
            if place > 0 { text += "\n" }
            let bundle = app["bundle"]
            write(app, links: links[bundle] ?? [], releases: releases[bundle] ?? [])
        }
        if !rows[.rules].isEmpty {
            text += "\n"
            line("rules:", depth: 0)
        }
        for (place, rule) in rows[.rules].enumerated() {
            if place > 0 { text += "\n" }
            write(rule, texts: texts[rule["key"]] ?? [], steps: steps[rule["key"]] ?? [])
        }
    }

    private mutating func write(_ app: PolicyRow, links: [PolicyRow], releases: [PolicyRow]) {
        let members = Self.members(app, except: ["bundle"])
        let isEmpty = members.isEmpty && links.isEmpty && releases.isEmpty
        key(app["bundle"].text ?? "", depth: 1, isEmpty ? " {}" : "")
        write(members, depth: 2)
        if !links.isEmpty { line("store_links:", depth: 2) }
        for link in links {
            key(link["platform"].text ?? "", depth: 3, " " + YAMLScalarText.line(link["link"].text ?? ""))
        }
        if !releases.isEmpty { line("releases:", depth: 2) }
        for release in releases { writeItem(Self.members(release, except: ["bundle"]), depth: 3) }
    }

    private mutating func write(_ rule: PolicyRow, texts: [PolicyRow], steps: [PolicyRow]) {
        key(rule["key"].text ?? "", depth: 1, "")
        let members = Self.members(rule, except: ["key"])
        let isAfterSteps: Set = [
            "starts_at", "ends_at", "title", "text", "link", "lockout", "lockout_without_update", "final", "note",
        ]
        write(members.filter { !isAfterSteps.contains($0.column.name) }, depth: 2)
        if !steps.isEmpty { line("steps:", depth: 2) }
        for step in steps { writeItem(Self.members(step, except: ["rule"]), depth: 3) }
        write(members.filter { isAfterSteps.contains($0.column.name) }, depth: 2)
        if !texts.isEmpty { line("texts:", depth: 2) }
        for text in texts {
            key(text["language"].text ?? "", depth: 3, "")
            write(Self.members(text, except: ["rule", "language"]), depth: 4)
        }
    }

    /// The columns of a row that say something.
    private static func members(
        _ row: PolicyRow,
        except: Set<String>
    ) -> [(column: PolicyColumn, value: PolicyValue)] {
        zip(row.table.columns, row.values)
            .filter { !except.contains($0.name) && $1 != $0.defaultValue }
            .map { ($0, $1) }
    }

    /// Writes columns as an entry of a list.
    private mutating func writeItem(_ members: [(column: PolicyColumn, value: PolicyValue)], depth: Int) {
        beginsItem = true
        write(members, depth: depth + 1)
    }

    private mutating func write(_ members: [(column: PolicyColumn, value: PolicyValue)], depth: Int) {
        for (column, value) in members {
            switch value {
            case .attributes(let attributes):
                line("\(column.name):", depth: depth)
                for (name, accepted) in attributes.sorted(by: { $0.key < $1.key }) {
                    key(name.string, depth: depth + 1, " " + Self.list(accepted))
                }
            case .text(let text) where column.kind == .text:
                let indentation = String(repeating: "  ", count: depth + 1)
                let written =
                    YAMLScalarText.block(text.string, indentation: indentation) ?? YAMLScalarText.line(text.string)
                line("\(column.name): \(written)", depth: depth)
            default: line("\(column.name): \(Self.scalar(value))", depth: depth)
            }
        }
    }

    private static func scalar(_ value: PolicyValue) -> String {
        switch value {
        case .null, .attributes: "null"
        case .text(let text): YAMLScalarText.quoted(text.string)
        case .texts(let texts): list(texts)
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .percentage(let percentage): percentage.description
        case .time(let time): time.description
        case .duration(let duration): duration.description
        }
    }

    private static func list(_ texts: [UTF8Text]) -> String {
        "[\(texts.map { YAMLScalarText.line($0.string, isInFlow: true) }.joined(separator: ", "))]"
    }

    private mutating func key(_ key: String, depth: Int, _ value: String) {
        let written = YAMLScalarText.line(key)
        if written.utf8.count > Self.longestPlainKey {
            line("? \(written)", depth: depth)
            line(":\(value)", depth: depth)
        } else {
            line("\(written):\(value)", depth: depth)
        }
    }

    private mutating func line(_ line: String, depth: Int) {
        text += String(repeating: "  ", count: beginsItem ? depth - 1 : depth) + (beginsItem ? "- " : "") + line + "\n"
        beginsItem = false
    }
}

extension PolicyDocument {
    /// The text of a policy file that holds these rows; the same rows always make the same text.
    ///
    /// - Parameters:
    ///   - rows: The rows, as `PolicyRows` reads them.
    ///   - revision: The revision that they are from; a comment says it.
    public static func text(of rows: PolicyRows, revision: Int64) -> String {
        var writer = PolicyDocumentWriter()
        writer.write(rows)
        return """
            # The policy at revision \(revision): every app, release and rule, without the history.
            # To see what this file would change: versiongate plan FILE
            # To change it: versiongate apply FILE

            """ + writer.text
    }
}

package import UpdatePolicy

struct PolicyDocumentWriter {
    /// The longest key that YAML allows before its colon on one line, less a margin.
    private static let longestPlainKey = 500
    private static let indexOfRollout = Rule.columns.firstIndex { $0.name == "rollout" } ?? 0
    private(set) var text = ""
    /// Whether the next line is the first of an entry of a list.
    private var beginsItem = false

    mutating func write(_ policy: Policy) {
        let releases = Dictionary(grouping: policy.releases) { UTF8Text($0.bundle) }
        line("versiongate: \(PolicyDocument.format)", depth: 0)
        text += "\n"
        line(policy.apps.isEmpty ? "apps: {}" : "apps:", depth: 0)
        for (index, app) in policy.apps.enumerated() {
            if index > 0 { text += "\n" }
            write(app, releases: releases[UTF8Text(app.bundle)] ?? [])
        }
        text += "\n"
        line(policy.rules.isEmpty ? "rules: {}" : "rules:", depth: 0)
        for (index, rule) in policy.rules.enumerated() {
            if index > 0 { text += "\n" }
            write(rule)
        }
        // A file that was cut lacks it.
        line("...", depth: 0)
    }

    private mutating func write(_ app: App, releases: [Release]) {
        let members = Self.members(app, except: "bundle")
        let isEmpty = members.isEmpty && app.storeLinks.isEmpty && app.feedTemplates.isEmpty && releases.isEmpty
        key(app.bundle, depth: 1, isEmpty ? " {}" : "")
        write(members, depth: 2)
        if !app.storeLinks.isEmpty { line("store_links:", depth: 2) }
        for link in app.storeLinks { key(link.platform, depth: 3, " " + YAMLScalarText.line(link.link)) }
        if !app.feedTemplates.isEmpty { line("feeds:", depth: 2) }
        for template in app.feedTemplates {
            key(template.name, depth: 3, "")
            write(Self.members(template, except: "name"), depth: 4)
        }
        if !releases.isEmpty { line("releases:", depth: 2) }
        for release in releases {
            writeItem(Self.members(release, except: "bundle"), depth: 3)
            if !release.notes.isEmpty { line("notes:", depth: 4) }
            for note in release.notes { key(note.language, depth: 5, " " + Self.text(note.text, depth: 5)) }
        }
    }

    private mutating func write(_ rule: Rule) {
        key(rule.key, depth: 1, "")
        // Steps leave a rule no other percentage than 0.
        let members = Self.members(rule, except: "key").filter { rule.steps.isEmpty || $0.index != Self.indexOfRollout }
        // Steps stand where the percentage would.
        let end = members.firstIndex { $0.index > Self.indexOfRollout } ?? members.endIndex
        write(Array(members[..<end]), depth: 2)
        if !rule.steps.isEmpty { line("steps:", depth: 2) }
        for step in rule.steps { writeItem(Self.members(step), depth: 3) }
        write(Array(members[end...]), depth: 2)
        if !rule.texts.isEmpty { line("texts:", depth: 2) }
        for text in rule.texts {
            key(text.language, depth: 3, "")
            write(Self.members(text, except: "language"), depth: 4)
        }
    }

    /// A column that differs from its default, with its index among the columns of its table.
    private struct Member {
        let index: Int
        let column: ColumnDefinition
        let value: PolicyValue
    }

    /// The columns of a record that differ from their defaults.
    private static func members<Record: PolicyRecord>(_ record: Record, except name: String? = nil) -> [Member] {
        Record.columns.enumerated().compactMap { index, column in
            let value = column.value(of: record)
            guard column.name != name, value != column.defaultValue else { return nil }
            return Member(index: index, column: column.definition, value: value)
        }
    }

    private mutating func writeItem(_ members: [Member], depth: Int) {
        beginsItem = true
        write(members, depth: depth + 1)
    }

    private mutating func write(_ members: [Member], depth: Int) {
        for member in members {
            let name = member.column.name
            switch member.value {
            case .attributes(let attributes):
                line("\(name):", depth: depth)
                for (name, accepted) in attributes.sorted(by: { $0.key < $1.key }) {
                    key(name.string, depth: depth + 1, " " + Self.list(accepted))
                }
            case .text(let text) where ![.version, .range].contains(member.column.type):
                line("\(name): \(Self.text(text.string, depth: depth))", depth: depth)
            default: line("\(name): \(Self.scalar(member.value))", depth: depth)
            }
        }
    }

    /// A text as the value of a key at a depth: a block where that shows its lines.
    private static func text(_ text: String, depth: Int) -> String {
        YAMLScalarText.block(text, indentation: String(repeating: "  ", count: depth + 1)) ?? YAMLScalarText.line(text)
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
    /// How much of the policy's token the first line has.
    private static let tokenLength = 8

    /// The revision that the first line names, with the beginning of its token; nil: it is not as it was written.
    package static func origin(_ text: some Sequence<UInt8>) -> (revision: Int64, token: String)? {
        let line = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let mark = #/^\u{FEFF}?# The policy at revision (\d{1,18}): .*; ([0-9a-f]{8})\.\r?$/#
        guard let match = line.firstMatch(of: mark), let revision = Int64(match.output.1)
        else { return nil }
        return (revision, String(match.output.2))
    }

    /// The text of a policy file that holds a policy; the same policy always makes the same text.
    ///
    /// - Parameters:
    ///   - policy: The policy with its notes.
    ///   - revision: The revision that it is from; a comment says it.
    ///   - token: The token of that revision, of which the comment has the beginning; empty: none.
    ///   - bundle: The app that it is the part of; nil: it is the whole policy.
    package static func text(of policy: Policy, revision: Int64, token: String = "", bundle: String? = nil) -> String {
        var writer = PolicyDocumentWriter()
        writer.write(policy)
        let what = bundle.map { "the app \($0), its releases and rules" } ?? "every app, release and rule"
        let mark = token.isEmpty ? "" : "; \(token.prefix(tokenLength))"
        let scope = bundle.map { " --bundle \($0)" } ?? ""
        return """
            # The policy at revision \(revision): \(what), without the history\(mark).
            # To see what this file would change: versiongate plan FILE\(scope)
            # To change it: versiongate apply FILE\(scope)

            """ + writer.text
    }
}

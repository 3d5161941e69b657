package import UpdatePolicy

struct PolicyDocumentWriter {
    /// The longest key that YAML allows before its colon on one line, less a margin.
    private static let longestPlainKey = 500
    private(set) var text = ""
    /// Whether the next line is the first of an entry of a list.
    private var beginsItem = false

    mutating func write(_ policy: Policy) {
        let rows = policy.fileRows
        line("versiongate: \(PolicyDocument.format)", depth: 0)
        for nesting in FileNesting.roots {
            text += "\n"
            write(rows[nesting.table] ?? [], nesting, depth: 0)
        }
        // A file that was cut lacks it.
        line("...", depth: 0)
    }

    private mutating func write(_ rows: [FileRow], _ nesting: FileNesting, depth: Int) {
        let (columns, keyColumn) = (nesting.columns, nesting.keyColumn)
        line(rows.isEmpty ? "\(nesting.key): {}" : "\(nesting.key):", depth: depth)
        for (index, row) in rows.enumerated() {
            if index > 0, depth == 0 { text += "\n" }
            let name = keyColumn.map { row.text($0.name) } ?? ""
            switch nesting.form {
            case .pairs:
                let value = columns.map { row.text($0.name) }.joined()
                key(name, depth: depth + 1, " " + Self.text(value, depth: depth + 1))
            case .map:
                let isEmpty = row.values.count == 1 && row.children.values.allSatisfy(\.isEmpty)
                key(name, depth: depth + 1, isEmpty ? " {}" : "")
                write(row, nesting, columns, depth: depth + 2)
            case .list:
                beginsItem = true
                write(row, nesting, columns, depth: depth + 2)
            }
        }
    }

    /// Writes the columns of a row that differ from their defaults, and what stands in it.
    private mutating func write(_ row: FileRow, _ nesting: FileNesting, _ columns: [ColumnDefinition], depth: Int) {
        let children = nesting.children.filter { row.children[$0.table]?.isEmpty == false }
        for column in columns {
            if let child = children.first(where: { $0.place == column.name }) {
                write(row.children[child.table] ?? [], child, depth: depth)
            } else if let value = row.values[column.name] {
                write(value, column, depth: depth)
            }
        }
        for child in children where child.place == nil {
            write(row.children[child.table] ?? [], child, depth: depth)
        }
    }

    private mutating func write(_ value: PolicyValue, _ column: ColumnDefinition, depth: Int) {
        switch value {
        case .attributes(let attributes):
            line("\(column.name):", depth: depth)
            for (name, accepted) in attributes.sorted(by: { $0.key < $1.key }) {
                key(name.string, depth: depth + 1, " " + Self.accepted(accepted))
            }
        case .text(let text) where ![.version, .range].contains(column.type):
            line("\(column.name): \(Self.text(text.string, depth: depth))", depth: depth)
        default: line("\(column.name): \(Self.scalar(value))", depth: depth)
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

    private static func accepted(_ values: AcceptedValues) -> String {
        switch values {
        case .among(let texts): list(texts)
        case .not(let texts): "{not: \(list(texts))}"
        case .range(let range): "{range: \(YAMLScalarText.quoted(range.string))}"
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

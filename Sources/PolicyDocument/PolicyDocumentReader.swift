import UpdatePolicy

/// Reads the rows of a policy out of a YAML document, and goes on after a fault so that all are reported at once.
struct PolicyDocumentReader {
    private(set) var rows: [PolicyTable: [FileRow]] = [:]
    private(set) var faults: [PolicyFileFault] = []
    /// How each app spells its bundle, by the bundle in lower case.
    private var bundles: [UTF8Text: String] = [:]

    /// Reads the whole document; nil is an empty file.
    mutating func read(_ root: YAMLNode?) {
        guard let root, !root.isAbsent else {
            return fault(
                .start, "an empty file",
                hint: "An empty policy has versiongate: \(PolicyDocument.format), apps: {} and rules: {}."
            )
        }
        guard let members = mapping(root, what: "a policy file", example: "versiongate, apps and rules") else { return }
        readFormat(members, of: root)
        let known = ["versiongate"] + FileNesting.roots.map(\.key)
        for (key, _) in members where !known.contains(key.text) { unknown(key, in: "a policy file", known: known) }
        // Rules name apps, wherever those stand.
        for nesting in FileNesting.roots {
            guard let (_, value) = members.first(where: { $0.key.text == nesting.key }) else { continue }
            rows[nesting.table] = read(nesting, value, what: nesting.key, owner: nil)
        }
        // Where there is another fault, such as a misspelled key, this one would only be noise.
        for name in FileNesting.roots.map(\.key)
        where faults.isEmpty && !members.contains(where: { $0.key.text == name }) {
            fault(
                root.position, "the key \(name) is missing, as in a file that was cut off",
                hint: "Write \(name): {} if there are to be none."
            )
        }
    }

    private mutating func readFormat(_ members: [(key: YAMLNode.Key, value: YAMLNode)], of root: YAMLNode) {
        guard let (_, value) = members.first(where: { $0.key.text == "versiongate" }) else {
            return fault(
                root.position, "the key versiongate is missing, which says how the file is to be read",
                hint: "Write as the first line: versiongate: \(PolicyDocument.format)"
            )
        }
        guard case .scalar(let text, _) = value.content, text == String(PolicyDocument.format) else {
            return fault(
                value.position, "this program reads format \(PolicyDocument.format) of policy files",
                hint: "Use the program that wrote the file, or write: versiongate: \(PolicyDocument.format)"
            )
        }
    }

    // MARK: - Rows

    /// The row that others stand in.
    private typealias Owner = (name: String, position: FilePosition)

    /// Reads rows of a table.
    ///
    /// - Parameter what: What they are in messages.
    private mutating func read(_ nesting: FileNesting, _ node: YAMLNode, what: String, owner: Owner?) -> [FileRow] {
        let entries: [(key: YAMLNode.Key?, value: YAMLNode)] =
            nesting.form == .list
            ? items(of: node, what: what, example: nesting.example).map { (nil, $0) }
            : members(of: node, what: what, example: nesting.example).map { ($0.key, $0.value) }
        var rows: [FileRow] = []
        var known: Set<[PolicyValue]> = []
        for (key, value) in entries {
            let faultsBefore = faults.count
            guard let row = row(nesting, key, value, owner) else { continue }
            rows.append(row)
            guard let repeated = nesting.repeated, let owner, faults.count == faultsBefore,
                !known.insert(row.identity(in: nesting.table)).inserted
            else { continue }
            let (message, hint) = repeated(row)
            fault(row.positions.row, "\(owner.name): \(message)", hint: hint)
        }
        return rows
    }

    /// Reads a row and those that stand in it; nil, and a fault, if it is none. Where there is another fault, it is incomplete.
    private mutating func row(
        _ nesting: FileNesting,
        _ key: YAMLNode.Key?,
        _ node: YAMLNode,
        _ owner: Owner?
    ) -> FileRow? {
        let name = nesting.name(owner?.name ?? "", key?.text ?? "")
        var row = FileRow(at: key?.position ?? node.position)
        if let owner, let column = nesting.ownerColumn { row.positions.columns[column] = owner.position }
        if let key, let column = nesting.keyColumn {
            row.positions.columns[column.name] = key.position
            row.values[column.name] = normalised(.text(UTF8Text(key.text)), column, node, what: name)
            if nesting.table == .apps,
                let spelled = bundles.updateValue(key.text, forKey: UTF8Text(key.text).lowercasedASCII)
            {
                fault(
                    key.position, "\(name): it is already there, as \(spelled)",
                    hint: "Case is ignored in bundles; leave one of the two out."
                )
                return nil
            }
        }
        if nesting.form == .pairs {
            for column in nesting.columns { read(column, node, at: node.position, what: name, into: &row) }
            return row
        }
        let columns = nesting.columns
        let known = columns.map(\.name) + nesting.children.map(\.key)
        guard let members = mapping(node, what: name, example: known.prefix(3).joined(separator: ", ")) else {
            return nil
        }
        for (key, _) in members where !known.contains(key.text) { unknown(key, in: name, known: known) }
        for column in columns {
            if let (key, value) = members.first(where: { $0.key.text == column.name }) {
                read(column, value, at: value.isAbsent ? key.position : value.position, what: name, into: &row)
            } else if column.defaultValue == nil {
                missing(column, row.positions.row, in: name)
            }
        }
        for child in nesting.children {
            guard let (_, value) = members.first(where: { $0.key.text == child.key }) else { continue }
            let owner = (name: name, position: row.positions.row)
            row.children[child.table] = read(child, value, what: "\(name): \(child.key)", owner: owner)
        }
        if let position = row.positions.columns["rollout"], !(row.children[.rolloutSteps] ?? []).isEmpty,
            row.values["rollout"] != .percentage(.zero)
        {
            let hint =
                "Leave rollout out: before its first step a rule reaches nobody. For a share until then, add a step."
            fault(position, "\(name): rollout beside steps", hint: hint)
        }
        return row
    }

    private mutating func read(
        _ column: ColumnDefinition,
        _ node: YAMLNode,
        at position: FilePosition,
        what: String,
        into row: inout FileRow
    ) {
        row.positions.columns[column.name] = position
        if let value = value(column, node, what: what) {
            row.values[column.name] = normalised(value, column, node, what: what)
        }
    }

    /// The value in the one form in which the database keeps it.
    private mutating func normalised(
        _ value: PolicyValue,
        _ column: ColumnDefinition,
        _ node: YAMLNode,
        what: String
    ) -> PolicyValue {
        switch (column.type, value) {
        case (.platform, .text(let platform)): return .text(UTF8Text(Platform(platform.string).name))
        case (.platforms, .texts(let platforms)):
            return .texts(Self.distinct(platforms.map { UTF8Text(Platform($0.string).name) }))
        case (.texts, .texts(let names)) where column.name == "languages":
            return .texts(Self.distinct(names.map { UTF8Text(LanguageTag.current($0.string)) }))
        case (.language, .text(let language)): return .text(UTF8Text(LanguageTag.current(language.string)))
        case (_, .texts(let names)): return .texts(Self.distinct(names))
        case (.bundle, .text(let bundle)) where column.role != .identity:
            guard let spelled = bundles[bundle.lowercasedASCII] else {
                fault(
                    node.position, "\(what): there is no app \(Quoted.text(bundle.string)) in the file",
                    hint: "Add it under apps, or leave bundle out to mean every app."
                )
                return value
            }
            return .text(UTF8Text(spelled))
        default: return value
        }
    }

    private static func distinct(_ names: [UTF8Text]) -> [UTF8Text] {
        var known: Set<UTF8Text> = []
        return names.filter { known.insert($0).inserted }
    }

    mutating func fault(_ position: FilePosition, _ message: String, hint: String) {
        faults.append(PolicyFileFault(position, message, hint: hint))
    }
}

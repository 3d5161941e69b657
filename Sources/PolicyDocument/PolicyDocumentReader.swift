import UpdatePolicy

/// Reads the rows of a policy out of a YAML document, and goes on after a fault so that all are reported at once.
struct PolicyDocumentReader {
    private(set) var document = PolicyDocument()
    private(set) var faults: [PolicyFileFault] = []
    /// How each app spells its bundle, by the bundle in lower case.
    private var bundles: [UTF8Text: String] = [:]

    /// Reads the whole document; nil is an empty file.
    mutating func read(_ root: YAMLNode?) {
        guard let root, !root.isAbsent else {
            fault(
                .start, "an empty file",
                hint: "A policy without anything has versiongate: \(PolicyDocument.format), apps: {} and rules: {}."
            )
            return
        }
        guard let members = mapping(root, what: "a policy file", example: "versiongate, apps and rules") else { return }
        readFormat(members, of: root)
        for (key, value) in members {
            switch key.text {
            case "versiongate": break
            case "apps":
                readMembers(of: value, what: "apps", example: "bundles, each with what there is to say") {
                    $0.readApp($1, $2)
                }
            case "rules": break
            default: unknown(key, in: "a policy file", known: ["versiongate", "apps", "rules"])
            }
        }
        // Rules name apps, wherever those stand.
        for (key, value) in members where key.text == "rules" {
            readMembers(of: value, what: "rules", example: "keys, each with what the rule says") {
                $0.readRule($1, $2)
            }
        }
        // Where there is another fault, such as a misspelled key, this one would only be noise.
        for name in ["apps", "rules"] where faults.isEmpty && !members.contains(where: { $0.key.text == name }) {
            fault(
                root.position, "the key \(name) is missing, as in a file that was cut",
                hint: "Write \(name): {} if there shall be none."
            )
        }
    }

    private mutating func readFormat(_ members: [(key: YAMLNode.Key, value: YAMLNode)], of root: YAMLNode) {
        guard let (_, value) = members.first(where: { $0.key.text == "versiongate" }) else {
            fault(
                root.position, "the key versiongate is missing, which says how the file is to be read",
                hint: "Write as the first line: versiongate: \(PolicyDocument.format)"
            )
            return
        }
        guard case .scalar(let text, _) = value.content, text == String(PolicyDocument.format) else {
            fault(
                value.position, "this program reads format \(PolicyDocument.format) of policy files",
                hint: "Use the program that wrote the file, or write: versiongate: \(PolicyDocument.format)"
            )
            return
        }
    }

    // MARK: - Apps

    private mutating func readApp(_ key: YAMLNode.Key, _ node: YAMLNode) {
        let what = "app \(key.text)"
        if let spelled = bundles.updateValue(key.text, forKey: UTF8Text(key.text).lowercasedASCII) {
            fault(
                key.position, "\(what): it is there already, as \(spelled)",
                hint: "Case does not count in bundles; leave one of the two out."
            )
            return
        }
        var app = App(bundle: key.text)
        let given = ["bundle": key.position]
        guard
            let nested = readRecord(
                &app, key.position, given: given, node, what: what, nested: ["store_links", "feeds", "releases"]
            )
        else { return }
        if let links = nested["store_links"] {
            app.storeLinks = readPairs(
                links, StoreLink.blank, given: given, what: "\(what): store_links",
                example: "platforms, each with a link"
            ) { link in
                (
                    "\(what): there is a store link for \(link.platform) already",
                    "Case does not count, and ipados, iphone os and iphoneos are ios; leave one of the two out."
                )
            }
        }
        if let feeds = nested["feeds"] {
            readMembers(of: feeds, what: "\(what): feeds", example: "names, each with content_type and body") {
                var template = FeedTemplate.blank
                template.name = $1.text
                $0.readRecord(
                    &template, $1.position, given: given.merging(["name": $1.position]) { $1 }, $2,
                    what: "\(what): the feed \($1.text)"
                )
                app.feedTemplates.append(template)
            }
        }
        if let releases = nested["releases"] {
            for item in items(of: releases, what: "\(what): releases", example: "- version: \"1.2\"") {
                var release = Release.blank
                release.bundle = key.text
                let what = "a release of \(what)"
                let nested = readRecord(&release, item.position, given: given, item, what: what, nested: ["notes"])
                if let notes = nested?["notes"] {
                    release.notes = readPairs(
                        notes, ReleaseNote.blank, given: [:], what: "\(what): notes",
                        example: "languages, each with the text"
                    ) { note in
                        ("\(what): second notes in \(note.language)", Self.secondLanguage)
                    }
                }
                document.policy.releases.append(release)
            }
        }
        document.policy.apps.append(app)
    }

    // MARK: - Rules

    private mutating func readRule(_ key: YAMLNode.Key, _ node: YAMLNode) {
        let what = "rule \(key.text)"
        var rule = Rule.blank
        rule.key = key.text
        guard
            let nested = readRecord(
                &rule, key.position, given: ["key": key.position], node, what: what, nested: ["steps", "texts"]
            )
        else { return }
        let owner = ["rule": key.position]
        if let steps = nested["steps"] {
            var times: Set<Timestamp> = []
            for item in items(of: steps, what: "\(what): steps", example: "- at: 2026-03-01T12:00:00Z") {
                var step = RolloutStep.blank
                let faultsBefore = faults.count
                readRecord(&step, item.position, given: owner, item, what: "a step of \(what)")
                rule.steps.append(step)
                if faults.count == faultsBefore, !times.insert(step.at).inserted {
                    fault(
                        item.position, "\(what): a second step at the same time",
                        hint: "One percentage holds from a time on; leave one of the two out."
                    )
                }
            }
        }
        if !rule.steps.isEmpty {
            if let position = document.positions[.rules]?.last?.columns["rollout"], rule.rollout != .zero {
                fault(
                    position,
                    "\(what): rollout beside steps",
                    hint: "Leave rollout out: before its first step a rule reaches nobody. For a share until then, "
                        + "add a step."
                )
            }
            rule.rollout = .zero
        }
        if let texts = nested["texts"] {
            var languages: Set<UTF8Text> = []
            readMembers(of: texts, what: "\(what): texts", example: "languages, each with title and text") {
                let language = LanguageTag.current($1.text)
                if !languages.insert(UTF8Text(language).lowercasedASCII).inserted {
                    $0.fault($1.position, "\(what): a second text in \(language)", hint: Self.secondLanguage)
                }
                var text = RuleText.blank
                text.language = language
                $0.readRecord(
                    &text, $1.position, given: owner.merging(["language": $1.position]) { $1 }, $2,
                    what: "\(what): the text in \($1.text)"
                )
                rule.texts.append(text)
            }
        }
        document.policy.rules.append(rule)
    }

    // MARK: - Records

    /// Reads the columns of a record from a map, and keeps their positions.
    ///
    /// - Parameters:
    ///   - record: Blank, except for columns that follow from the position of the map. Incomplete where a fault is found.
    ///   - given: The positions of these.
    ///   - nested: Keys of the map that are no columns.
    /// - Returns: The values of the nested keys; nil, and a fault, if it is no map.
    @discardableResult
    private mutating func readRecord<Record: PolicyRecord>(
        _ record: inout Record,
        _ position: FilePosition,
        given: [String: FilePosition],
        _ node: YAMLNode,
        what: String,
        nested: [String] = []
    ) -> [String: YAMLNode]? {
        let columns = Record.columns.filter { given[$0.name] == nil }
        let known = columns.map(\.name) + nested
        guard let members = mapping(node, what: what, example: known.prefix(3).joined(separator: ", ")) else {
            return nil
        }
        var positions = PolicyDocument.Positions(row: position, columns: given)
        var nestedNodes: [String: YAMLNode] = [:]
        for (key, value) in members {
            if let column = columns.first(where: { $0.name == key.text }) {
                positions.columns[column.name] = value.isAbsent ? key.position : value.position
                if let read = self.value(column.definition, value, what: what) {
                    column.set(normalised(read, column.definition, value, what: what), in: &record)
                }
            } else if nested.contains(key.text) {
                nestedNodes[key.text] = value
            } else {
                unknown(key, in: what, known: known)
            }
        }
        for column in columns
        where column.defaultValue == nil && !members.contains(where: { $0.key.text == column.name }) {
            fault(
                position, "\(what): \(column.name) is missing",
                hint: "Add: \(column.name): \(column.definition.example)"
            )
        }
        document.positions[Record.table, default: []].append(positions)
        return nestedNodes
    }

    /// Reads the records of a map, each of a key that identifies it and of one value, and keeps their positions.
    ///
    /// - Parameter repeated: The message and the hint about a record that is there already.
    private mutating func readPairs<Record: PolicyRecord>(
        _ node: YAMLNode,
        _ blank: Record,
        given: [String: FilePosition],
        what: String,
        example: String,
        repeated: (Record) -> (message: String, hint: String)
    ) -> [Record] {
        var records: [Record] = []
        readMembers(of: node, what: what, example: example) { reader, key, node in
            var record = blank
            var positions = given
            for column in Record.columns {
                let isKey = column.role == .identity
                let read =
                    isKey
                    ? .text(UTF8Text(key.text))
                    : reader.value(column.definition, node, what: "\(what): \(key.text)")
                guard let read else { return }
                column.set(reader.normalised(read, column.definition, node, what: what), in: &record)
                positions[column.name] = isKey ? key.position : node.position
            }
            guard !records.contains(where: { $0.isLike(record, in: [.identity]) }) else {
                let (message, hint) = repeated(record)
                return reader.fault(key.position, message, hint: hint)
            }
            records.append(record)
            reader.document.positions[Record.table, default: []].append(
                PolicyDocument.Positions(row: key.position, columns: positions)
            )
        }
        return records
    }

    private static let secondLanguage =
        "Case does not count in languages, and old codes are read as today's; leave one of the two out."

    /// The names in their order, each once.
    private static func distinct(_ names: [UTF8Text]) -> [UTF8Text] {
        var known: Set<UTF8Text> = []
        return names.filter { known.insert($0).inserted }
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
        case (.bundle, .text(let bundle)):
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

    mutating func fault(_ position: FilePosition, _ message: String, hint: String) {
        faults.append(PolicyFileFault(position, message, hint: hint))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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
                .start,
                "an empty file",
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
                root.position,
                "the key \(name) is missing, as in a file that was cut",
                hint: "Write \(name): {} if there shall be none."
            )
        }
    }

    private mutating func readFormat(_ members: [(key: YAMLNode.Key, value: YAMLNode)], of root: YAMLNode) {
        guard let (_, value) = members.first(where: { $0.key.text == "versiongate" }) else {
            fault(
                root.position,
                "the key versiongate is missing, which says how the file is to be read",
                hint: "Write as the first line: versiongate: \(PolicyDocument.format)"
            )
            return
        }
        guard case .scalar(let text, _) = value.content, text == String(PolicyDocument.format) else {
            fault(
                value.position,
                "this program reads format \(PolicyDocument.format) of policy files",
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
                key.position,
                "\(what): it is there already, as \(spelled)",
                hint: "Case does not count in bundles; leave one of the two out."
            )
            return
        }
        var app = App(bundle: key.text)
        let given = ["bundle": key.position]
        guard
            let nested = readRecord(
                &app,
                key.position,
                given: given,
                node,
                what: what,
                nested: ["store_links", "feeds", "releases"]
            )
        else { return }
        if let links = nested["store_links"] {
            readMembers(of: links, what: "\(what): store_links", example: "platforms, each with a link") {
                if let link = $0.readStoreLink($1, $2, among: app.storeLinks, given: given, what: what) {
                    app.storeLinks.append(link)
                }
            }
        }
        if let feeds = nested["feeds"] {
            readMembers(of: feeds, what: "\(what): feeds", example: "names, each with content_type and body") {
                var template = FeedTemplate.blank
                template.name = $1.text
                $0.readRecord(
                    &template,
                    $1.position,
                    given: given.merging(["name": $1.position]) { $1 },
                    $2,
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
                    readMembers(of: notes, what: "\(what): notes", example: "languages, each with the text") {
                        if let note = $0.readNote($1, $2, among: release.notes, what: what) {
                            release.notes.append(note)
                        }
                    }
                }
                document.policy.releases.append(release)
            }
        }
        document.policy.apps.append(app)
    }

    private mutating func readStoreLink(
        _ key: YAMLNode.Key,
        _ node: YAMLNode,
        among links: [StoreLink],
        given: [String: FilePosition],
        what: String
    ) -> StoreLink? {
        var link = StoreLink(platform: Platform(key.text).name, link: "")
        for column in StoreLink.columns where column.name == "link" {
            guard let address = value(column.definition, node, what: "\(what): store_links") else { return nil }
            column.set(address, in: &link)
        }
        if links.contains(where: { UTF8Text($0.platform) == UTF8Text(link.platform) }) {
            fault(
                key.position,
                "\(what): there is a store link for \(link.platform) already",
                hint: "Case does not count, and ipados, iphone os and iphoneos are ios; leave one of the two out."
            )
            return nil
        }
        let columns = given.merging(["platform": key.position, "link": node.position]) { $1 }
        document.positions[.storeLinks, default: []].append(
            PolicyDocument.Positions(row: key.position, columns: columns)
        )
        return link
    }

    private mutating func readNote(
        _ key: YAMLNode.Key,
        _ node: YAMLNode,
        among notes: [ReleaseNote],
        what: String
    ) -> ReleaseNote? {
        var note = ReleaseNote(language: key.text, text: "")
        for column in ReleaseNote.columns where column.name == "text" {
            guard let text = value(column.definition, node, what: "\(what): notes: \(key.text)") else { return nil }
            column.set(text, in: &note)
        }
        if notes.contains(where: { UTF8Text($0.language).lowercasedASCII == UTF8Text(key.text).lowercasedASCII }) {
            fault(
                key.position,
                "\(what): second notes in \(key.text)",
                hint: "Case does not count in languages; leave one of the two out."
            )
            return nil
        }
        document.positions[.releaseNotes, default: []].append(
            PolicyDocument.Positions(row: key.position, columns: ["language": key.position, "text": node.position])
        )
        return note
    }

    // MARK: - Rules

    private mutating func readRule(_ key: YAMLNode.Key, _ node: YAMLNode) {
        let what = "rule \(key.text)"
        var rule = Rule.blank
        rule.key = key.text
        guard
            let nested = readRecord(
                &rule,
                key.position,
                given: ["key": key.position],
                node,
                what: what,
                nested: ["steps", "texts"]
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
                        item.position,
                        "\(what): a second step at the same time",
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
                if !languages.insert(UTF8Text($1.text).lowercasedASCII).inserted {
                    $0.fault(
                        $1.position,
                        "\(what): a second text in \($1.text)",
                        hint: "Case does not count in languages; leave one of the two out."
                    )
                }
                var text = RuleText.blank
                text.language = $1.text
                $0.readRecord(
                    &text,
                    $1.position,
                    given: owner.merging(["language": $1.position]) { $1 },
                    $2,
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
                    column.set(normalised(read, column.type, value, what: what), in: &record)
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
                position,
                "\(what): \(column.name) is missing",
                hint: "Add: \(column.name): \(column.definition.example)"
            )
        }
        document.positions[Record.table, default: []].append(positions)
        return nestedNodes
    }

    /// The names in their order, each once.
    private static func distinct(_ names: [UTF8Text]) -> [UTF8Text] {
        var known: Set<UTF8Text> = []
        return names.filter { known.insert($0).inserted }
    }

    /// The value in the one form in which the database keeps it.
    private mutating func normalised(
        _ value: PolicyValue,
        _ type: ColumnType,
        _ node: YAMLNode,
        what: String
    ) -> PolicyValue {
        switch (type, value) {
        case (.platform, .text(let platform)): return .text(UTF8Text(Platform(platform.string).name))
        case (.platforms, .texts(let platforms)):
            return .texts(Self.distinct(platforms.map { UTF8Text(Platform($0.string).name) }))
        case (_, .texts(let names)): return .texts(Self.distinct(names))
        case (.bundle, .text(let bundle)):
            guard let spelled = bundles[bundle.lowercasedASCII] else {
                fault(
                    node.position,
                    "\(what): there is no app \(Quoted.text(bundle.string)) in the file",
                    hint: "Add it under apps, or leave bundle out to mean every app."
                )
                return value
            }
            return .text(UTF8Text(spelled))
        default: return value
        }
    }

    // MARK: - Values

    /// Reads the value of a column; nil, and a fault, if it cannot be read.
    private mutating func value(_ column: ColumnDefinition, _ node: YAMLNode, what: String) -> PolicyValue? {
        let path = "\(what): \(column.name)"
        if node.isAbsent {
            if let value = column.defaultValue { return value }
            fault(node.position, "\(path) is missing", hint: "Add: \(column.name): \(column.example)")
            return nil
        }
        switch column.type {
        case .text, .key, .bundle, .language, .platform, .version:
            return text(node, what: path, example: column.example).map { .text(UTF8Text($0)) }
        case .texts, .platforms: return texts(node, what: path, example: column.example).map { .texts($0) }
        case .attributes: return attributes(node, what: path)
        case .boolean:
            guard case .scalar(let text, isPlain: true) = node.content, text == "true" || text == "false" else {
                fault(node.position, "\(path) is neither true nor false", hint: "Write true, or leave the key out.")
                return nil
            }
            return .boolean(text == "true")
        case .integer:
            return scalar(node, what: path, Int32.init, "Write a whole number, such as 10.").map { .integer(Int64($0)) }
        case .bigInteger:
            return scalar(node, what: path, Int64.init, "Write a whole number: \(column.example)").map { .integer($0) }
        case .percentage:
            return scalar(
                node,
                what: path,
                Percentage.init,
                "Write a percentage from 0 to 100 with at most two decimals, such as 37.25; nothing is rounded."
            ).map { .percentage($0) }
        case .time:
            return scalar(
                node,
                what: path,
                Timestamp.init,
                "Write a time in ISO 8601 with an offset: 2026-03-01T12:00:00Z"
            ).map { .time($0) }
        case .duration:
            return scalar(
                node,
                what: path,
                DayTimeInterval.init,
                "Write days, hours, minutes and seconds: 2 days, 36 hours"
            ).map { .duration($0) }
        }
    }

    private mutating func scalar<Value>(
        _ node: YAMLNode,
        what: String,
        _ read: (String) -> Value?,
        _ hint: String
    ) -> Value? {
        guard let text = text(node, what: what, example: nil) else { return nil }
        guard let value = read(text) else {
            fault(node.position, "\(what): \(Quoted.text(text)) cannot be read", hint: hint)
            return nil
        }
        return value
    }

    private mutating func text(_ node: YAMLNode, what: String, example: String?) -> String? {
        guard case .scalar(let text, _) = node.content else {
            fault(
                node.position,
                "\(what) is a \(node.kind) where a text is wanted",
                hint: example.map { "Write: \($0). A text that begins with [ or { goes into quotation marks." }
                    ?? "Write one value. A text that begins with [ or { goes into quotation marks."
            )
            return nil
        }
        if text.unicodeScalars.contains("\0") {
            fault(node.position, "\(what) has the character U+0000, which cannot be kept", hint: "Remove it.")
            return nil
        }
        return text
    }

    private mutating func texts(_ node: YAMLNode, what: String, example: String) -> [UTF8Text]? {
        guard case .sequence(let items) = node.content else {
            fault(node.position, "\(what) is a \(node.kind) where a list is wanted", hint: "Write a list: \(example)")
            return nil
        }
        guard !items.isEmpty else {
            fault(node.position, "\(what) is an empty list", hint: "Leave the key out for no condition.")
            return nil
        }
        var texts: [UTF8Text] = []
        for item in items {
            if item.isAbsent {
                fault(
                    item.position,
                    "\(what): an entry without a value",
                    hint: "Remove it; the text null goes into quotation marks."
                )
            } else if let text = text(item, what: "an entry of \(what)", example: nil) {
                texts.append(UTF8Text(text))
            }
        }
        return texts.count == items.count ? texts : nil
    }

    private mutating func attributes(_ node: YAMLNode, what: String) -> PolicyValue? {
        let example = "names, each with the list of texts that are accepted"
        guard let members = mapping(node, what: what, example: example) else { return nil }
        guard !members.isEmpty else {
            fault(node.position, "\(what) is an empty map", hint: "Leave the key out for no condition.")
            return nil
        }
        var attributes: [UTF8Text: [UTF8Text]] = [:]
        for (key, value) in members {
            let path = "\(what).\(key.text)"
            if key.text.unicodeScalars.contains("\0") {
                fault(key.position, "\(what): a name with the character U+0000", hint: "Remove it.")
            } else if value.isAbsent {
                fault(value.position, "\(path) accepts nothing", hint: "Write a list of texts: [beta, nightly]")
            } else {
                attributes[UTF8Text(key.text)] = texts(value, what: path, example: "[beta, nightly]")
            }
        }
        return attributes.count == members.count ? .attributes(attributes) : nil
    }

    // MARK: - Structure

    /// The members of a map, none where nothing is said; nil, and a fault, for anything else.
    private mutating func mapping(
        _ node: YAMLNode,
        what: String,
        example: String
    ) -> [(key: YAMLNode.Key, value: YAMLNode)]? {
        if node.isAbsent { return [] }
        if case .sequence(let items) = node.content, items.isEmpty { return [] }
        guard case .mapping(let members) = node.content else {
            fault(node.position, "\(what) is a \(node.kind) where a map is wanted", hint: "It is a map of \(example).")
            return nil
        }
        return members
    }

    private mutating func readMembers(
        of node: YAMLNode,
        what: String,
        example: String,
        _ read: (inout PolicyDocumentReader, YAMLNode.Key, YAMLNode) -> Void
    ) {
        for (key, value) in mapping(node, what: what, example: example) ?? [] {
            if key.text.unicodeScalars.contains("\0") {
                fault(key.position, "\(what): a key with the character U+0000", hint: "Remove it.")
            } else {
                read(&self, key, value)
            }
        }
    }

    private mutating func items(of node: YAMLNode, what: String, example: String) -> [YAMLNode] {
        if node.isAbsent { return [] }
        guard case .sequence(let items) = node.content else {
            fault(
                node.position,
                "\(what) is a \(node.kind) where a list is wanted",
                hint: "Begin each entry: \(example)"
            )
            return []
        }
        return items
    }

    private mutating func unknown(_ key: YAMLNode.Key, in what: String, known: [String]) {
        let nearest = SimilarNames.of(key.text.replacing("-", with: "_"), among: known).first
        fault(
            key.position,
            "\(what): unknown key \(Quoted.text(key.text))",
            hint: nearest.map { "Did you mean \($0)?" } ?? "The keys here are \(known.joined(separator: ", "))."
        )
    }

    private mutating func fault(_ position: FilePosition, _ message: String, hint: String) {
        faults.append(PolicyFileFault(position, message, hint: hint))
    }
}

extension YAMLNode {
    /// The kind of node, for messages.
    fileprivate var kind: String {
        switch content {
        case .scalar: "text"
        case .sequence: "list"
        case .mapping: "map"
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
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
            fault(.start, "an empty file", hint: "A policy without anything is: versiongate: \(PolicyDocument.format)")
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
        let bundle = PolicyValue.text(UTF8Text(key.text))
        guard
            let nested = readRow(
                .apps,
                key.position,
                fixed: ["bundle": (bundle, key.position)],
                node,
                what: what,
                nested: ["store_links", "releases"]
            )
        else { return }
        if let links = nested["store_links"] {
            readMembers(of: links, what: "\(what): store_links", example: "platforms, each with a link") {
                $0.readStoreLink($1, $2, bundle: bundle, what: what)
            }
        }
        if let releases = nested["releases"] {
            for release in items(of: releases, what: "\(what): releases", example: "- version: \"1.2\"") {
                readRow(
                    .releases,
                    release.position,
                    fixed: ["bundle": (bundle, key.position)],
                    release,
                    what: "a release of \(what)"
                )
            }
        }
    }

    private mutating func readStoreLink(
        _ key: YAMLNode.Key,
        _ node: YAMLNode,
        bundle: PolicyValue,
        what: String
    ) {
        let platform = PolicyValue.text(UTF8Text(Platform(key.text).name))
        guard let link = value(PolicyTable.storeLinks.column("link"), node, what: "\(what): store_links") else {
            return
        }
        if document.rows[.storeLinks].contains(where: { $0["bundle"] == bundle && $0["platform"] == platform }) {
            fault(
                key.position,
                "\(what): there is a store link for \(Platform(key.text).name) already",
                hint: "Case does not count, and ipados, iphone os and iphoneos are ios; leave one of the two out."
            )
            return
        }
        append(
            PolicyRow(.storeLinks, values: [bundle, platform, link]),
            PolicyDocument.Places(row: key.position, columns: ["platform": key.position, "link": node.position])
        )
    }

    // MARK: - Rules

    private mutating func readRule(_ key: YAMLNode.Key, _ node: YAMLNode) {
        let what = "rule \(key.text)"
        let ruleKey = PolicyValue.text(UTF8Text(key.text))
        guard
            let nested = readRow(
                .rules,
                key.position,
                fixed: ["key": (ruleKey, key.position)],
                node,
                what: what,
                nested: ["steps", "texts"]
            )
        else { return }
        if let steps = nested["steps"] {
            var times: Set<PolicyValue> = []
            for step in items(of: steps, what: "\(what): steps", example: "- at: 2026-03-01T12:00:00Z") {
                let place = document.rows[.rolloutSteps].count
                readRow(
                    .rolloutSteps,
                    step.position,
                    fixed: ["rule": (ruleKey, key.position)],
                    step,
                    what: "a step of \(what)"
                )
                if let row = document.rows[.rolloutSteps].dropFirst(place).first, !times.insert(row["at"]).inserted {
                    fault(
                        step.position,
                        "\(what): a second step at the same time",
                        hint: "One percentage holds from a time on; leave one of the two out."
                    )
                }
            }
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
                let language = PolicyValue.text(UTF8Text($1.text))
                $0.readRow(
                    .ruleTexts,
                    $1.position,
                    fixed: ["rule": (ruleKey, key.position), "language": (language, $1.position)],
                    $2,
                    what: "\(what): the text in \($1.text)"
                )
            }
        }
    }

    // MARK: - Rows

    /// Reads the columns of a row from a map and adds the row.
    ///
    /// - Parameters:
    ///   - fixed: The columns that are given by where the map stands.
    ///   - nested: Keys of the map that are no columns.
    /// - Returns: The values of the nested keys; nil if the row could not be read.
    @discardableResult
    private mutating func readRow(
        _ table: PolicyTable,
        _ position: FilePosition,
        fixed: [String: (value: PolicyValue, position: FilePosition)],
        _ node: YAMLNode,
        what: String,
        nested: [String] = []
    ) -> [String: YAMLNode]? {
        let columns = table.columns.filter { fixed[$0.name] == nil }
        let known = columns.map(\.name) + nested
        guard let members = mapping(node, what: what, example: known.prefix(3).joined(separator: ", ")) else {
            return nil
        }
        var places = PolicyDocument.Places(row: position)
        var values: [String: PolicyValue] = [:]
        for (name, given) in fixed {
            values[name] = given.value
            places.columns[name] = given.position
        }
        var nestedNodes: [String: YAMLNode] = [:]
        var isComplete = true
        for (key, value) in members {
            if let column = columns.first(where: { $0.name == key.text }) {
                places.columns[column.name] = value.isAbsent ? key.position : value.position
                if let read = self.value(column, value, what: what) {
                    values[column.name] = normalised(read, column, table, value, what: what)
                } else {
                    isComplete = false
                }
            } else if nested.contains(key.text) {
                nestedNodes[key.text] = value
            } else {
                unknown(key, in: what, known: known)
                isComplete = false
            }
        }
        for column in columns
        where column.defaultValue == nil && !members.contains(where: { $0.key.text == column.name }) {
            fault(position, "\(what): \(column.name) is missing", hint: "Add: \(column.name): \(column.example)")
            isComplete = false
        }
        if isComplete {
            append(PolicyRow(table, values: table.columns.map { values[$0.name] ?? $0.defaultValue ?? .null }), places)
        }
        return nestedNodes
    }

    private mutating func append(_ row: PolicyRow, _ places: PolicyDocument.Places) {
        document.rows.append(row)
        document.places[row.table, default: []].append(places)
    }

    /// The names in their order, each once.
    private static func distinct(_ names: [UTF8Text]) -> [UTF8Text] {
        var known: Set<UTF8Text> = []
        return names.filter { known.insert($0).inserted }
    }

    /// The value in the one form in which the database keeps it.
    private mutating func normalised(
        _ value: PolicyValue,
        _ column: PolicyColumn,
        _ table: PolicyTable,
        _ node: YAMLNode,
        what: String
    ) -> PolicyValue {
        switch (table, column.name, value) {
        case (.releases, "platform", .text(let platform)): return .text(UTF8Text(Platform(platform.string).name))
        case (.rules, "platforms", .texts(let platforms)):
            return .texts(Self.distinct(platforms.map { UTF8Text(Platform($0.string).name) }))
        case (_, _, .texts(let names)): return .texts(Self.distinct(names))
        case (.rules, "bundle", .text(let bundle)):
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
    private mutating func value(_ column: PolicyColumn, _ node: YAMLNode, what: String) -> PolicyValue? {
        let place = "\(what): \(column.name)"
        if node.isAbsent {
            if let value = column.defaultValue { return value }
            fault(node.position, "\(place) is missing", hint: "Add: \(column.name): \(column.example)")
            return nil
        }
        switch column.kind {
        case .text, .version: return text(node, what: place, example: column.example).map { .text(UTF8Text($0)) }
        case .texts: return texts(node, what: place, example: column.example).map { .texts($0) }
        case .attributes: return attributes(node, what: place)
        case .boolean:
            guard case .scalar(let text, isPlain: true) = node.content, text == "true" || text == "false" else {
                fault(node.position, "\(place) is neither true nor false", hint: "Write true, or leave the key out.")
                return nil
            }
            return .boolean(text == "true")
        case .integer:
            return scalar(node, what: place, Int32.init, "Write a whole number, such as 10.").map { .integer($0) }
        case .percentage:
            return scalar(
                node,
                what: place,
                Percentage.init,
                "Write a percentage from 0 to 100 with at most two decimals, such as 37.25; nothing is rounded."
            ).map { .percentage($0) }
        case .time:
            return scalar(
                node,
                what: place,
                Timestamp.init,
                "Write a time in ISO 8601 with an offset: 2026-03-01T12:00:00Z"
            ).map { .time($0) }
        case .duration:
            return scalar(
                node,
                what: place,
                SoakTime.init,
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
            let place = "\(what).\(key.text)"
            if key.text.unicodeScalars.contains("\0") {
                fault(key.position, "\(what): a name with the character U+0000", hint: "Remove it.")
            } else if value.isAbsent {
                fault(value.position, "\(place) accepts nothing", hint: "Write a list of texts: [beta, nightly]")
            } else {
                attributes[UTF8Text(key.text)] = texts(value, what: place, example: "[beta, nightly]")
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
        let nearest = NearestName.of(key.text, among: known)
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
    /// What it is, for people.
    fileprivate var kind: String {
        switch content {
        case .scalar: "text"
        case .sequence: "list"
        case .mapping: "map"
        }
    }
}

extension PolicyTable {
    fileprivate func column(_ name: String) -> PolicyColumn {
        columns.first { $0.name == name } ?? columns[0]
    }
}

extension PolicyColumn {
    /// A value as it is written in a file, for hints.
    fileprivate var example: String {
        switch kind {
        case .text: name == "platform" ? "ios" : name == "link" ? "https://example.com" : "text"
        case .version: "\"1.2\""
        case .texts: name == "platforms" ? "[ios]" : name == "languages" ? "[de, zh-Hant]" : "[JP, US]"
        case .boolean: "true"
        case .integer: "10"
        case .percentage: "25"
        case .time: "2026-03-01T12:00:00Z"
        case .duration: "2 days"
        case .attributes: "{channel: [beta]}"
        }
    }
}

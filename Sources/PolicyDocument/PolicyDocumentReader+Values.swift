import UpdatePolicy

extension PolicyDocumentReader {
    mutating func value(_ column: ColumnDefinition, _ node: YAMLNode, what: String) -> PolicyValue? {
        let path = "\(what): \(column.name)"
        if node.isAbsent {
            if let value = column.defaultValue { return value }
            missing(column, node.position, in: what)
            return nil
        }
        switch column.type {
        case .text, .key, .bundle, .language, .platform, .version, .range:
            return text(node, what: path, example: column.example).map { .text(UTF8Text($0)) }
        case .texts, .platforms: return texts(node, what: path, example: column.example).map { .texts($0) }
        case .attributes: return attributes(node, what: path)
        case .boolean:
            guard case .scalar(let text, isPlain: true) = node.content, text == "true" || text == "false" else {
                fault(node.position, "\(path) is neither true nor false", hint: "Write true, or leave the key out.")
                return nil
            }
            return .boolean(text == "true")
        case .integer, .bigInteger, .percentage, .time, .duration:
            guard let text = text(node, what: path, example: nil) else { return nil }
            let (value, hint) = Self.scalar(text, column)
            if value == nil { fault(node.position, "\(path): \(Quoted.text(text)) cannot be read", hint: hint) }
            return value
        }
    }

    /// The value of a text without quotation marks; nil where it cannot be read. And what to write in its place.
    private static func scalar(_ text: String, _ column: ColumnDefinition) -> (PolicyValue?, hint: String) {
        switch column.type {
        case .integer: (Int32(text).map { .integer(Int64($0)) }, "Write a whole number, such as 10.")
        case .percentage:
            (
                Percentage(text).map { .percentage($0) },
                "Write a percentage from 0 to 100 with at most two decimals, such as 37.25; nothing is rounded."
            )
        case .time: (Timestamp(text).map { .time($0) }, "Write a time in ISO 8601 with an offset: 2026-03-01T12:00:00Z")
        case .duration:
            (DayTimeInterval(text).map { .duration($0) }, "Write days, hours, minutes and seconds: 2 days, 36 hours")
        default: (Int64(text).map { .integer($0) }, "Write a whole number: \(column.example)")
        }
    }

    mutating func missing(_ column: ColumnDefinition, _ position: FilePosition, in what: String) {
        fault(position, "\(what): \(column.name) is missing", hint: "Add: \(column.name): \(column.example)")
    }

    private mutating func text(_ node: YAMLNode, what: String, example: String?) -> String? {
        guard case .scalar(let text, _) = node.content else {
            let value = example.map { "Write: \($0)" } ?? "Write one value"
            return wrong(node, what, "text", "\(value). A text that begins with [ or { goes into quotation marks.")
        }
        if text.unicodeScalars.contains("\0") {
            fault(node.position, "\(what) has the character U+0000, which cannot be kept", hint: "Remove it.")
            return nil
        }
        return text
    }

    private mutating func texts(_ node: YAMLNode, what: String, example: String) -> [UTF8Text]? {
        guard case .sequence(let items) = node.content else {
            return wrong(node, what, "list", "Write a list: \(example)")
        }
        guard !items.isEmpty else {
            fault(node.position, "\(what) is an empty list", hint: "Leave the key out for no condition.")
            return nil
        }
        var texts: [UTF8Text] = []
        for item in items {
            if item.isAbsent {
                fault(
                    item.position, "\(what): an entry without a value",
                    hint: "Remove it; the text null goes into quotation marks."
                )
            } else if let text = text(item, what: "an entry of \(what)", example: nil) {
                texts.append(UTF8Text(text))
            }
        }
        return texts.count == items.count ? texts : nil
    }

    private mutating func attributes(_ node: YAMLNode, what: String) -> PolicyValue? {
        let example = "names, each with what is accepted: [beta, nightly], {not: [staff]} or {range: \"<45\"}"
        guard let members = mapping(node, what: what, example: example) else { return nil }
        guard !members.isEmpty else {
            fault(node.position, "\(what) is an empty map", hint: "Leave the key out for no condition.")
            return nil
        }
        var attributes: [UTF8Text: AcceptedValues] = [:]
        for (key, value) in members {
            let path = "\(what).\(key.text)"
            if key.text.unicodeScalars.contains("\0") {
                fault(key.position, "\(what): a name with the character U+0000", hint: "Remove it.")
            } else if value.isAbsent {
                fault(value.position, "\(path) accepts nothing", hint: "Write a list of texts: [beta, nightly]")
            } else {
                attributes[UTF8Text(key.text)] = acceptedValues(value, what: path)
            }
        }
        return attributes.count == members.count ? .attributes(attributes) : nil
    }

    private mutating func acceptedValues(_ node: YAMLNode, what: String) -> AcceptedValues? {
        guard case .mapping(let members) = node.content else {
            return texts(node, what: what, example: "[beta, nightly]").map { .among($0) }
        }
        guard members.count == 1, let (key, value) = members.first, ["not", "range"].contains(key.text) else {
            fault(
                node.position, "\(what) is neither a list nor one of not and range",
                hint: "Write [beta, nightly], {not: [staff]} or {range: \"<45\"}."
            )
            return nil
        }
        let path = "\(what).\(key.text)"
        if key.text == "not" { return texts(value, what: path, example: "[staff]").map { .not($0) } }
        return text(value, what: path, example: "\"<45\"").map { .range(UTF8Text($0)) }
    }

    // MARK: - Structure

    /// The members of a map, none where nothing is said; nil, and a fault, for anything else.
    mutating func mapping(_ node: YAMLNode, what: String, example: String) -> [(key: YAMLNode.Key, value: YAMLNode)]? {
        if node.isAbsent { return [] }
        if case .sequence(let items) = node.content, items.isEmpty { return [] }
        guard case .mapping(let members) = node.content else {
            return wrong(node, what, "map", "It is a map of \(example).")
        }
        return members
    }

    /// The members of a map whose keys can be kept.
    mutating func members(of node: YAMLNode, what: String, example: String) -> [(key: YAMLNode.Key, value: YAMLNode)] {
        (mapping(node, what: what, example: example) ?? []).filter { key, _ in
            let isKept = !key.text.unicodeScalars.contains("\0")
            if !isKept { fault(key.position, "\(what): a key with the character U+0000", hint: "Remove it.") }
            return isKept
        }
    }

    mutating func items(of node: YAMLNode, what: String, example: String) -> [YAMLNode] {
        if node.isAbsent { return [] }
        guard case .sequence(let items) = node.content else {
            return wrong(node, what, "list", "Begin each entry: \(example)") ?? []
        }
        return items
    }

    /// Tells of a value of another kind than is wanted, in whose place there is none.
    private mutating func wrong<Value>(_ node: YAMLNode, _ what: String, _ wanted: String, _ hint: String) -> Value? {
        fault(node.position, "\(what) is a \(node.kind) where a \(wanted) is wanted", hint: hint)
        return nil
    }

    mutating func unknown(_ key: YAMLNode.Key, in what: String, known: [String]) {
        let nearest = SimilarNames.of(key.text.replacing("-", with: "_"), among: known).first
        fault(
            key.position, "\(what): unknown key \(Quoted.text(key.text))",
            hint: nearest.map { "Did you mean \($0)?" } ?? "The keys here are \(known.joined(separator: ", "))."
        )
    }
}

extension YAMLNode {
    fileprivate var kind: String {
        switch content {
        case .scalar: "text"
        case .sequence: "list"
        case .mapping: "map"
        }
    }
}

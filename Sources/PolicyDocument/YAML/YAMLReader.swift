import UpdatePolicy

/// Builds the tree of a YAML document, and refuses what policies do not use: anchors, aliases, tags, merge keys,
/// keys that are not scalars, duplicate keys, a second document, and deep nesting.
struct YAMLReader {
    private static let deepest = 20
    private let parser: YAMLEventParser

    /// Reads a file of one document.
    ///
    /// - Returns: The document, nil if there is none, and whether the mark of its end is there.
    static func document(_ bytes: [UInt8]) throws(PolicyFileFault) -> (root: YAMLNode?, hasEndMark: Bool) {
        try YAMLReader(parser: YAMLEventParser(bytes)).document()
    }

    private func document() throws(PolicyFileFault) -> (root: YAMLNode?, hasEndMark: Bool) {
        _ = try parser.next()
        guard case .documentStart = try parser.next().kind else { return (nil, false) }
        let root = try node(parser.next(), depth: 0)
        var hasEndMark = false
        if case .documentEnd(let isMarked) = try parser.next().kind { hasEndMark = isMarked }
        let end = try parser.next()
        guard case .streamEnd = end.kind else {
            throw PolicyFileFault(
                end.position, "a second document begins here",
                hint: "A policy is one document: leave the line --- out, or put the parts into one."
            )
        }
        return (root, hasEndMark)
    }

    private func node(_ event: YAMLEvent, depth: Int) throws(PolicyFileFault) -> YAMLNode {
        try refuse(event)
        switch event.kind {
        case .scalar(let text, let isPlain):
            return YAMLNode(content: .scalar(text, isPlain: isPlain), position: event.position)
        case .sequenceStart:
            try refuseDepth(depth, event.position)
            return YAMLNode(content: .sequence(try sequence(depth: depth + 1)), position: event.position)
        case .mappingStart:
            try refuseDepth(depth, event.position)
            return YAMLNode(content: .mapping(try mapping(depth: depth + 1)), position: event.position)
        default:
            throw PolicyFileFault(event.position, "not YAML: a value is missing here")
        }
    }

    private func sequence(depth: Int) throws(PolicyFileFault) -> [YAMLNode] {
        var nodes: [YAMLNode] = []
        var event = try parser.next()
        while !event.isEnd {
            nodes.append(try node(event, depth: depth))
            event = try parser.next()
        }
        return nodes
    }

    private func mapping(depth: Int) throws(PolicyFileFault) -> [(key: YAMLNode.Key, value: YAMLNode)] {
        var members: [(key: YAMLNode.Key, value: YAMLNode)] = []
        var lines: [UTF8Text: Int] = [:]
        var event = try parser.next()
        while !event.isEnd {
            let key = try key(event)
            if let line = lines.updateValue(key.position.line, forKey: UTF8Text(key.text)) {
                throw PolicyFileFault(
                    key.position, "the key \(Quoted.text(key.text)) a second time",
                    hint: "It is in line \(line) already; leave one of the two out."
                )
            }
            members.append((key, try node(parser.next(), depth: depth)))
            event = try parser.next()
        }
        return members
    }

    private func key(_ event: YAMLEvent) throws(PolicyFileFault) -> YAMLNode.Key {
        try refuse(event)
        guard case .scalar(let text, let isPlain) = event.kind else {
            throw PolicyFileFault(
                event.position, "a list or a map as a key",
                hint: "A key is a name; put a text that begins with [ or { into quotation marks."
            )
        }
        if isPlain, text == "<<" {
            throw PolicyFileFault(event.position, "a merge key", hint: "Write the values out where they belong.")
        }
        return YAMLNode.Key(text: text, position: event.position)
    }

    private func refuse(_ event: YAMLEvent) throws(PolicyFileFault) {
        if case .alias = event.kind {
            throw PolicyFileFault(
                event.position, "an alias",
                hint: "Write the value out. A text that begins with * goes into quotation marks: \"*\""
            )
        }
        if case .scalar(let text, isPlain: true) = event.kind, let mark = text.first,
            "“”„‟‘’‚‛«»".contains(mark)
        {
            throw PolicyFileFault(
                event.position, "the mark \(mark), which is no quotation mark of YAML but part of the text",
                hint: "Write \" in its place; a text that begins with \(mark) goes into such marks as well."
            )
        }
        if event.hasAnchor {
            throw PolicyFileFault(
                event.position, "an anchor",
                hint: "Write values out where they belong. A text that begins with & goes into quotation marks."
            )
        }
        if event.hasTag {
            throw PolicyFileFault(
                event.position, "a tag",
                hint: "Values need no types. A text that begins with ! goes into quotation marks."
            )
        }
    }

    private func refuseDepth(_ depth: Int, _ position: FilePosition) throws(PolicyFileFault) {
        guard depth >= Self.deepest else { return }
        throw PolicyFileFault(
            position, "lists and maps nested more than \(Self.deepest) deep",
            hint: "A policy needs no more than six; check the indentation and the brackets."
        )
    }
}

/// A value of a YAML document with its position in the file. Scalars are kept as written, without a type.
struct YAMLNode {
    struct Key {
        let text: String
        let position: FilePosition
    }

    indirect enum Content {
        /// A text, and whether it stands there without quotation marks.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// No two keys have the same bytes.
        case mapping([(key: Key, value: YAMLNode)])
    }

    let content: Content
    let position: FilePosition

    /// Whether the value is empty, or one that any YAML reader takes for null.
    var isAbsent: Bool {
        if case .scalar(let text, isPlain: true) = content {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }
}

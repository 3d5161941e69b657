// libyaml, as Yams carries it, in place of Yams.compose: that composes without a bound on depth, follows aliases and
// compares keys as Swift compares texts, all before anybody can refuse it, and does not tell whether the file ends with
// `...`, by which an export that was cut off is known.
import CYaml
import UpdatePolicy

/// Builds the tree of a YAML document, and refuses what policies do not use: anchors, aliases, tags, merge keys,
/// keys that are not scalars, duplicate keys, a second document, and deep nesting.
final class YAMLReader {
    private static let deepest = 20
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let bytes: [UInt8]

    /// Reads a file of one document.
    ///
    /// - Returns: The document, nil if there is none, and whether the mark of its end is there.
    static func document(_ bytes: [UInt8]) throws(PolicyFileFault) -> (root: YAMLNode?, hasEndMark: Bool) {
        let reader = try YAMLReader(bytes)
        _ = try reader.next()
        guard try reader.next().type == YAML_DOCUMENT_START_EVENT else { return (nil, false) }
        let root = try reader.node(reader.next(), depth: 0)
        let documentEnd = try reader.next()
        let end = try reader.next()
        guard end.type == YAML_STREAM_END_EVENT else {
            throw PolicyFileFault(
                end.position, "a second document begins here",
                hint: "A policy is one document: leave the line --- out, or put the parts into one."
            )
        }
        return (root, documentEnd.isMarked)
    }

    private init(_ bytes: [UInt8]) throws(PolicyFileFault) {
        self.bytes = bytes
        input = .allocate(capacity: bytes.count + 1)
        _ = input.initialize(from: bytes + [0])
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else {
            throw PolicyFileFault(.start, "there is not enough memory to read the file")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deinitialize(count: 1)
        parser.deallocate()
        input.deallocate()
    }

    // MARK: - Nodes

    private func node(_ event: Event, depth: Int) throws(PolicyFileFault) -> YAMLNode {
        if event.type == YAML_SCALAR_EVENT {
            return YAMLNode(content: .scalar(event.text, isPlain: event.isPlain), position: event.position)
        }
        guard depth < Self.deepest else {
            throw PolicyFileFault(
                event.position, "lists and maps nested more than \(Self.deepest) deep",
                hint: "A policy needs no more than six; check the indentation and the brackets."
            )
        }
        let content: YAMLNode.Content =
            event.type == YAML_SEQUENCE_START_EVENT
            ? .sequence(try sequence(depth: depth + 1)) : .mapping(try mapping(depth: depth + 1))
        return YAMLNode(content: content, position: event.position)
    }

    private func sequence(depth: Int) throws(PolicyFileFault) -> [YAMLNode] {
        var nodes: [YAMLNode] = []
        var event = try next()
        while event.type != YAML_SEQUENCE_END_EVENT {
            nodes.append(try node(event, depth: depth))
            event = try next()
        }
        return nodes
    }

    private func mapping(depth: Int) throws(PolicyFileFault) -> [(key: YAMLNode.Key, value: YAMLNode)] {
        var members: [(key: YAMLNode.Key, value: YAMLNode)] = []
        var lines: [UTF8Text: Int] = [:]
        var event = try next()
        while event.type != YAML_MAPPING_END_EVENT {
            let key = try key(event)
            if let line = lines.updateValue(key.position.line, forKey: UTF8Text(key.text)) {
                throw PolicyFileFault(
                    key.position, "the key \(Quoted.text(key.text)) a second time",
                    hint: "It is already in line \(line); leave one of the two out."
                )
            }
            members.append((key, try node(next(), depth: depth)))
            event = try next()
        }
        return members
    }

    private func key(_ event: Event) throws(PolicyFileFault) -> YAMLNode.Key {
        guard event.type == YAML_SCALAR_EVENT else {
            throw PolicyFileFault(
                event.position, "a list or a map as a key",
                hint: "A key is a name; put a text that begins with [ or { into quotation marks."
            )
        }
        if event.isPlain, event.text == "<<" {
            throw PolicyFileFault(event.position, "a merge key", hint: "Write the values out where they belong.")
        }
        return YAMLNode.Key(text: event.text, position: event.position)
    }

    // MARK: - Events

    /// An event of libyaml: one piece of a document.
    private struct Event {
        let type: yaml_event_type_t
        let position: FilePosition
        /// The text of a scalar, and whether it stands there without quotation marks.
        var text = ""
        var isPlain = false
        /// Whether the mark `...` says that the document ends.
        var isMarked = false
    }

    /// The next event, unless it is of what policies do not use.
    private func next() throws(PolicyFileFault) -> Event {
        var raw = yaml_event_t()
        guard yaml_parser_parse(parser, &raw) == 1 else { throw fault }
        defer { yaml_event_delete(&raw) }
        var event = Event(type: raw.type, position: Self.position(raw.start_mark))
        var (anchor, tag): (UnsafeMutablePointer<yaml_char_t>?, UnsafeMutablePointer<yaml_char_t>?)
        switch raw.type {
        case YAML_SCALAR_EVENT:
            let scalar = raw.data.scalar
            event.text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            event.isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
            (anchor, tag) = (scalar.anchor, scalar.tag)
        case YAML_SEQUENCE_START_EVENT:
            (anchor, tag) = (raw.data.sequence_start.anchor, raw.data.sequence_start.tag)
        case YAML_MAPPING_START_EVENT:
            (anchor, tag) = (raw.data.mapping_start.anchor, raw.data.mapping_start.tag)
        case YAML_DOCUMENT_END_EVENT: event.isMarked = raw.data.document_end.implicit == 0
        default: break
        }
        func refused(_ message: String, _ hint: String) -> PolicyFileFault {
            PolicyFileFault(event.position, message, hint: hint)
        }
        if raw.type == YAML_ALIAS_EVENT {
            throw refused("an alias", "Write the value out. A text that begins with * goes into quotation marks: \"*\"")
        }
        if event.isPlain, let mark = event.text.first, "“”„‟‘’‚‛«»".contains(mark) {
            let hint = "Write \" in its place; a text that begins with \(mark) goes into such marks as well."
            throw refused("\(mark) is not a YAML quotation mark, so it is part of the text", hint)
        }
        if anchor != nil {
            let hint = "Write values out where they belong. A text that begins with & goes into quotation marks."
            throw refused("an anchor", hint)
        }
        if tag != nil {
            throw refused("a tag", "Values need no types. A text that begins with ! goes into quotation marks.")
        }
        return event
    }

    private static func position(_ mark: yaml_mark_t) -> FilePosition {
        FilePosition(line: mark.line + 1, column: mark.column + 1)
    }

    private var fault: PolicyFileFault {
        let state = parser.pointee
        let problem = state.problem.map { String(cString: $0) } ?? "it cannot be read"
        guard state.error == YAML_SCANNER_ERROR || state.error == YAML_PARSER_ERROR else {
            return PolicyFileFault(
                FilePosition(offset: state.problem_offset, in: bytes), "not YAML: \(problem)",
                hint: "Write such a character as an escape in double quotation marks: \"\\x07\""
            )
        }
        let context = state.context.map { String(cString: $0) + ", " } ?? ""
        // libyaml notices these late, and reports the position where it noticed.
        if problem == "could not find expected ':'" {
            let hint =
                "Write the key, a colon, a space and the value; a text of several lines goes into quotation marks."
            return PolicyFileFault(Self.position(state.context_mark), "a key without a colon", hint: hint)
        }
        if context.hasPrefix("while scanning a quoted scalar") {
            let message = "a quotation mark whose second one is missing"
            let hint =
                "End the text with the same mark; inside of it, write '' between ' marks and \\\" between \" marks."
            return PolicyFileFault(Self.position(state.context_mark), message, hint: hint)
        }
        return PolicyFileFault(
            Self.position(state.problem_mark), "not YAML: \(context)\(problem)",
            hint: Self.hints.first { (context + problem).contains($0.0) || $0.0.isEmpty }?.1
        )
    }

    private static let hints = [
        ("alias", "A text that begins with * goes into quotation marks: \"*\""),
        ("anchor", "A text that begins with & goes into quotation marks."),
        (
            "cannot start any token",
            "Indent with spaces, not tabs; a text that begins with @, ` or % goes into quotation marks."
        ),
        (
            "mapping values are not allowed",
            "A text with a colon and a space in it goes into quotation marks; or the line above lacks its colon."
        ),
        ("", "Check the indentation and the quotation marks here and in the lines above."),
    ]
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

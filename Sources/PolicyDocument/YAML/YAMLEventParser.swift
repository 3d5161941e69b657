// libyaml, as Yams carries it, in place of Yams.compose: that composes without a bound on depth, follows aliases and
// compares keys as Swift compares texts, all before anybody can refuse it, and does not tell whether the file ends with
// `...`, by which an export that was cut off is known.
import CYaml

/// libyaml's parser over the bytes of one file: the only place that speaks its C interface.
final class YAMLEventParser {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) throws(PolicyFileFault) {
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

    func next() throws(PolicyFileFault) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw fault }
        defer { yaml_event_delete(&event) }
        let position = Self.position(event.start_mark)
        let data = event.data
        func made(_ kind: YAMLEvent.Kind, anchor: Bool = false, tag: Bool = false) -> YAMLEvent {
            YAMLEvent(kind: kind, position: position, hasAnchor: anchor, hasTag: tag)
        }
        switch event.type {
        case YAML_STREAM_START_EVENT: return made(.streamStart)
        case YAML_DOCUMENT_START_EVENT: return made(.documentStart)
        case YAML_DOCUMENT_END_EVENT: return made(.documentEnd(isMarked: data.document_end.implicit == 0))
        case YAML_ALIAS_EVENT: return made(.alias)
        case YAML_SCALAR_EVENT:
            let scalar = data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return made(
                .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), anchor: scalar.anchor != nil,
                tag: scalar.tag != nil
            )
        case YAML_SEQUENCE_START_EVENT:
            return made(.sequenceStart, anchor: data.sequence_start.anchor != nil, tag: data.sequence_start.tag != nil)
        case YAML_MAPPING_START_EVENT:
            return made(.mappingStart, anchor: data.mapping_start.anchor != nil, tag: data.mapping_start.tag != nil)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return made(.collectionEnd)
        default: return made(.streamEnd)
        }
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
            return PolicyFileFault(
                Self.position(state.context_mark),
                "a key without a colon",
                hint:
                    "Write the key, a colon, a blank and the value; a text of several lines goes into quotation marks."
            )
        }
        if context.hasPrefix("while scanning a quoted scalar") {
            return PolicyFileFault(
                Self.position(state.context_mark),
                "a quotation mark whose second one is missing",
                hint:
                    "End the text with the same mark; inside of it, write '' between ' marks and \\\" between \" marks."
            )
        }
        return PolicyFileFault(
            Self.position(state.problem_mark), "not YAML: \(context)\(problem)",
            hint: Self.hint(context: context, problem: problem)
        )
    }

    private static func hint(context: String, problem: String) -> String {
        if context.contains("alias") { return "A text that begins with * goes into quotation marks: \"*\"" }
        if context.contains("anchor") { return "A text that begins with & goes into quotation marks." }
        if problem.contains("cannot start any token") {
            return "Indent with blanks, not tabs; a text that begins with @, ` or % goes into quotation marks."
        }
        if problem.contains("mapping values are not allowed") {
            return "A text with a colon and a blank in it goes into quotation marks; or the line above lacks its colon."
        }
        return "Check the indentation and the quotation marks here and in the lines above."
    }
}

/// An event of libyaml: one piece of a document.
struct YAMLEvent {
    enum Kind {
        case streamStart
        case streamEnd
        case documentStart
        /// The end of the document, and whether its mark `...` says so.
        case documentEnd(isMarked: Bool)
        case alias
        case scalar(String, isPlain: Bool)
        case sequenceStart
        case mappingStart
        case collectionEnd
    }

    let kind: Kind
    let position: FilePosition
    let hasAnchor: Bool
    let hasTag: Bool

    var isEnd: Bool {
        if case .collectionEnd = kind { true } else { false }
    }
}

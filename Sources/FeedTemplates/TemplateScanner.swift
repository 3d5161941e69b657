import UpdatePolicy

/// A part of a template.
indirect enum TemplatePart: Sendable {
    /// Text that is written as it stands.
    case literal(String)
    /// A value.
    case value([String])
    /// What is written for each item of a list, or once if there is a value.
    case section([String], [TemplatePart])
    /// What is written if there is no value, or none in its list.
    case inverted([String], [TemplatePart])
    /// What is written for the first item of a list alone, or for all others.
    case first(Bool, [TemplatePart])
    /// What is written for the last item of a list alone, or for all others.
    case last(Bool, [TemplatePart])

    /// Whether a value is asked for, here or in what it holds.
    func names(_ value: String) -> Bool {
        switch self {
        case .literal: false
        case .value(let path): path.first == value
        case .section(let path, let parts), .inverted(let path, let parts):
            path.first == value || parts.contains { $0.names(value) }
        case .first(_, let parts), .last(_, let parts): parts.contains { $0.names(value) }
        }
    }
}

/// Reads the tags of a template, and refuses those that are not for feeds, with their place.
///
/// Of Mustache there are values, sections, inverted sections and comments, which all but values leave no line behind that
/// they are alone on; and `first()` and `last()` as sections in a list, for commas. Delimiters cannot be changed, so a tag
/// always begins with `{{`.
struct TemplateScanner {
    /// What names mean at a place.
    private struct Scope {
        let shape: TemplateShape
        /// The list whose item this is.
        var list: String?
    }

    /// A section that is open.
    private struct Section {
        let name: String
        let place: Place
        let path: [String]
        let isInverted: Bool
        let opensScope: Bool
        var parts: [TemplatePart] = []
    }

    private struct Place {
        var line = 1
        var column = 1
    }

    /// How many sections may be open at once.
    static let deepest = 16

    private let characters: [Character]
    private var index = 0
    private var place = Place()
    private var scopes = [Scope(shape: .object(TemplateShape.all))]
    private var open: [Section] = []
    private var parts: [TemplatePart] = []
    private var literal = ""

    init(_ body: String) {
        characters = Array(body)
    }

    /// The parts of the template.
    mutating func scan() throws(FeedTemplateFault) -> [TemplatePart] {
        while index < characters.count {
            if characters[index] == "{", index + 1 < characters.count, characters[index + 1] == "{" {
                try readTag()
            } else {
                literal.append(characters[index])
                advance(1)
            }
        }
        endLiteral()
        if let section = open.last {
            throw fault(
                "the section \(section.name) is not closed", "Write {{/\(section.name)}} where it ends.", section.place
            )
        }
        return parts
    }

    // MARK: - Tags

    private mutating func readTag() throws(FeedTemplateFault) {
        let start = place
        let rest = characters[(index + 2)...]
        guard
            let end = rest.indices.first(where: {
                $0 + 1 < characters.count && characters[$0] == "}" && characters[$0 + 1] == "}"
            })
        else {
            throw fault("a tag that is not closed", "Write }} behind it, or a blank between the two braces.", start)
        }
        let contents = String(characters[(index + 2)..<end])
        var length = end + 2 - index
        if let kind = contents.first, "#^/!".contains(kind), let line = lineOfItsOwn(end + 2) {
            literal.removeLast(line.blanksBefore)
            length = line.end - index
        }
        let name = { String(contents.dropFirst().drop(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)) }
        endLiteral()
        switch contents.first {
        case "!": break
        case "{", "&":
            throw fault(
                "a value that is not escaped",
                contents.first == "&"
                    ? "Leave the & out: values are escaped as the content type needs it."
                    : "Write two braces: values are escaped as the content type needs it. Where the first brace belongs to"
                        + " the document, put a blank behind it: { {{name}} }",
                start
            )
        case ">", "<", "$":
            throw fault("a part of another template", "Write the text of it here: a feed is one template.", start)
        case "=": throw fault("other delimiters", "Write tags with {{ and }}.", start)
        case "%":
            throw fault("a setting of the parser", "Take it out: the content type decides what is escaped.", start)
        case "#": try openSection(name(), isInverted: false, start)
        case "^": try openSection(name(), isInverted: true, start)
        case "/": try closeSection(name(), start)
        default:
            let name = contents.drop(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
            try readValue(String(name), start)
        }
        advance(length)
    }

    /// How many blanks are before a tag that is alone on its line, and where that line ends; nil where it is not alone.
    private func lineOfItsOwn(_ endOfTag: Int) -> (blanksBefore: Int, end: Int)? {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        func isEnd(_ character: Character) -> Bool { character == "\n" || character == "\r\n" }
        let blanks = characters[..<index].reversed().prefix(while: isBlank).count
        let start = index - blanks
        let end = characters[endOfTag...].firstIndex { !isBlank($0) } ?? characters.count
        guard start == 0 || isEnd(characters[start - 1]), end == characters.count || isEnd(characters[end]) else {
            return nil
        }
        return (blanks, min(end + 1, characters.count))
    }

    private mutating func readValue(_ name: String, _ start: Place) throws(FeedTemplateFault) {
        let (path, shape) = try resolve(name, start)
        switch shape {
        case .text, .flag: parts.append(.value(path))
        case .object(let members):
            throw fault(
                "\(name) is not one value", "Write one of \(Self.list(members.keys.map { "{{\(name).\($0)}}" })).",
                start
            )
        case .list(let members):
            throw fault(
                "\(name) is a list",
                "Write {{#\(name)}}...{{/\(name)}}, and in it \(Self.list(members.keys.map { "{{\($0)}}" })).", start
            )
        }
    }

    private mutating func openSection(_ name: String, isInverted: Bool, _ start: Place) throws(FeedTemplateFault) {
        guard open.count < Self.deepest else {
            throw fault("more than \(Self.deepest) sections in each other", "Close some before you open others.", start)
        }
        var section: Section
        var scope: Scope?
        if name == "first()" || name == "last()" {
            guard scopes.last?.list != nil else {
                throw fault("\(name) outside of a list", "Write it directly in {{#messages}}...{{/messages}}.", start)
            }
            section = Section(name: name, place: start, path: [], isInverted: isInverted, opensScope: false)
        } else {
            let (path, shape) = try resolve(name, start)
            switch shape {
            case .list where scopes.contains(where: { $0.list == name }):
                throw fault("\(name) in itself", "Close {{#\(name)}} before you open it again.", start)
            case .list: scope = Scope(shape: shape, list: name)
            case .object, .text: scope = Scope(shape: shape)
            case .flag: scope = nil
            }
            // Where there is no value, there is nothing to take names from.
            if isInverted { scope = if case .list = shape { Scope(shape: .object([:])) } else { nil } }
            section = Section(name: name, place: start, path: path, isInverted: isInverted, opensScope: scope != nil)
        }
        if let scope { scopes.append(scope) }
        section.parts = parts
        open.append(section)
        parts = []
    }

    private mutating func closeSection(_ name: String, _ start: Place) throws(FeedTemplateFault) {
        guard let section = open.last else {
            throw fault("{{/\(name)}} closes nothing", "Write {{#\(name)}} where the section begins.", start)
        }
        guard section.name == name else {
            throw fault(
                "{{/\(name)}} where \(section.name) is to be closed",
                "Write {{/\(section.name)}}: what is opened last is closed first.", start
            )
        }
        open.removeLast()
        if section.opensScope { scopes.removeLast() }
        let part: TemplatePart =
            switch name {
            case "first()": .first(!section.isInverted, parts)
            case "last()": .last(!section.isInverted, parts)
            default: section.isInverted ? .inverted(section.path, parts) : .section(section.path, parts)
            }
        parts = section.parts + [part]
    }

    // MARK: - Names

    /// The path and the kind of the value that a name means here: it is looked for from the innermost section on.
    private func resolve(_ name: String, _ start: Place) throws(FeedTemplateFault) -> ([String], TemplateShape) {
        if name == "." {
            guard case .text? = scopes.last?.shape else {
                throw fault(
                    "{{.}} where there is no text",
                    "Write the name of a value; {{.}} is the text of a section such as {{#floor}}...{{/floor}}.", start
                )
            }
            return (["."], .text)
        }
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let known = scopes.reversed().lazy.compactMap { $0.shape.members[names[0]] }.first
        guard var shape = known else {
            let names = scopes.flatMap(\.shape.members.keys)
            let similar = SimilarNames.of(name, among: names.sorted()).first.map { "Did you mean \($0)? " } ?? ""
            throw fault(
                name.isEmpty ? "a tag without a name" : "there is no value \(Self.quoted(name))",
                "\(similar)The values here are \(Self.list(names)).", start
            )
        }
        for (index, member) in names.enumerated().dropFirst() {
            let owner = names[..<index].joined(separator: ".")
            guard case .object(let members) = shape, let found = members[member] else {
                let isList = if case .list = shape { true } else { false }
                throw fault(
                    "there is no value \(Self.quoted(name))",
                    isList
                        ? "\(owner) is a list: write {{#\(owner)}}...{{/\(owner)}}, and the name in it."
                        : shape.members.isEmpty
                            ? "\(owner) is one value, and has no others in it."
                            : "In \(owner) there are \(Self.list(shape.members.keys)).",
                    start
                )
            }
            shape = found
        }
        return (names, shape)
    }

    private static func list(_ names: some Sequence<String>) -> String { names.sorted().joined(separator: ", ") }

    private static func quoted(_ name: String) -> String {
        name.count > 60 ? "\"\(name.prefix(60))…\"" : "\"\(name)\""
    }

    // MARK: - Places

    private mutating func endLiteral() {
        if !literal.isEmpty { parts.append(.literal(literal)) }
        literal = ""
    }

    private mutating func advance(_ count: Int) {
        for character in characters[index..<(index + count)] {
            if character.isNewline {
                place = Place(line: place.line + 1, column: 1)
            } else {
                place.column += 1
            }
        }
        index += count
    }

    private func fault(_ message: String, _ hint: String, _ place: Place) -> FeedTemplateFault {
        FeedTemplateFault(line: place.line, column: place.column, message: message, hint: hint)
    }
}

extension Collection where Self: BidirectionalCollection, SubSequence == Self {
    /// The elements without those at the end that meet a condition.
    fileprivate func trimmingSuffix(while isTrimmed: (Element) -> Bool) -> Self {
        var end = endIndex
        while end > startIndex, isTrimmed(self[index(before: end)]) { end = index(before: end) }
        return self[startIndex..<end]
    }
}

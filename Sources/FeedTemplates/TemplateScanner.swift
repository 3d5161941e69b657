import UpdatePolicy

indirect enum TemplatePart: Sendable {
    case literal(String)
    case value([String])
    /// What is written for each item of a list, or once if there is a value.
    case section([String], [TemplatePart])
    /// What is written if there is no value, or none in its list.
    case inverted([String], [TemplatePart])

    /// Whether a value is asked for, here or in what it holds.
    func names(_ value: String) -> Bool {
        switch self {
        case .literal: false
        case .value(let path): path.first == value
        case .section(let path, let parts), .inverted(let path, let parts):
            path.first == value || parts.contains { $0.names(value) }
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
        let shape: TemplateValue
        /// The list whose item this is.
        var list: String?
    }

    private struct Section {
        let name: String
        /// Where its tag begins.
        let start: Int
        let path: [String]
        let isInverted: Bool
        /// What names mean in it, where that is something else than around it.
        let scope: Scope?
        /// What was read before it.
        let partsBefore: [TemplatePart]
    }

    /// How many sections may be open at once.
    static let deepest = 16

    private let characters: [Character]
    /// Where what was not read yet begins.
    private var index = 0
    private var open: [Section] = []
    private var parts: [TemplatePart] = []
    private var scopes: [Scope] { [Scope(shape: .object(FeedValues.shape))] + open.compactMap(\.scope) }

    init(_ body: String) {
        characters = Array(body)
    }

    mutating func scan() throws(FeedTemplateFault) -> [TemplatePart] {
        while let start = pair("{", from: index) { try readTag(start) }
        appendLiteral(upTo: characters.count)
        if let section = open.last {
            throw fault(
                "the section \(section.name) is not closed", "Write {{/\(section.name)}} where it ends.", section.start
            )
        }
        return parts
    }

    /// Where a character next stands twice.
    private func pair(_ character: Character, from start: Int) -> Int? {
        (start..<characters.count).dropLast().first { characters[$0] == character && characters[$0 + 1] == character }
    }

    private mutating func appendLiteral(upTo end: Int) {
        if index < end { parts.append(.literal(String(characters[index..<end]))) }
    }

    // MARK: - Tags

    private mutating func readTag(_ start: Int) throws(FeedTemplateFault) {
        guard let end = pair("}", from: start + 2) else {
            throw fault("a tag that is not closed", "Write }} behind it, or a space between the two braces.", start)
        }
        let contents = characters[(start + 2)..<end]
        let kind = contents.first
        let tag = start..<(end + 2)
        let removed = kind.map { "#^/!".contains($0) } ?? false ? lineOfItsOwn(tag) ?? tag : tag
        appendLiteral(upTo: removed.lowerBound)
        index = removed.upperBound
        if let (message, hint) = kind.flatMap({ Self.refused[$0] }) { throw fault(message, hint, start) }
        switch kind {
        case "!": break
        case "#", "^": try openSection(Self.trimmed(contents.dropFirst()), isInverted: kind == "^", start)
        case "/": try closeSection(Self.trimmed(contents.dropFirst()), start)
        default: try readValue(Self.trimmed(contents), start)
        }
    }

    /// Tags of Mustache that are not for feeds, by the character that they begin with.
    private static let refused: [Character: (message: String, hint: String)] = [
        "{": (
            "a value that is not escaped",
            "Write two braces: values are escaped as the content type requires. If the first brace belongs to the"
                + " document, put a space after it: { {{name}} }"
        ),
        "&": ("a value that is not escaped", "Leave the & out: values are escaped as the content type requires."),
        ">": partial, "<": partial, "$": partial, "=": ("other delimiters", "Write tags with {{ and }}."),
        "%": ("a setting of the parser", "Take it out: the content type decides what is escaped."),
    ]
    private static let partial = ("a part of another template", "Write the text of it here: a feed is one template.")

    private static func trimmed(_ text: ArraySlice<Character>) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// The whole line of a tag; nil where it is not alone on it.
    private func lineOfItsOwn(_ tag: Range<Int>) -> Range<Int>? {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        func isEnd(_ character: Character) -> Bool { character == "\n" || character == "\r\n" }
        let start = characters[..<tag.lowerBound].lastIndex { !isBlank($0) }
        let end = characters[tag.upperBound...].firstIndex { !isBlank($0) }
        guard start.map({ isEnd(characters[$0]) }) ?? true, end.map({ isEnd(characters[$0]) }) ?? true else {
            return nil
        }
        return (start.map { $0 + 1 } ?? 0)..<(end.map { $0 + 1 } ?? characters.count)
    }

    private mutating func readValue(_ name: String, _ start: Int) throws(FeedTemplateFault) {
        let (path, shape) = try resolve(name, start)
        switch shape {
        case .text, .flag: parts.append(.value(path))
        case .object(let members):
            throw fault(
                "\(name) is not one value", "Write one of \(Self.list(members.keys.map { "{{\(name).\($0)}}" })).",
                start
            )
        case .list:
            throw fault(
                "\(name) is a list",
                "Write {{#\(name)}}...{{/\(name)}}, and in it \(Self.list(shape.members.keys.map { "{{\($0)}}" })).",
                start
            )
        }
    }

    private mutating func openSection(_ name: String, isInverted: Bool, _ start: Int) throws(FeedTemplateFault) {
        guard open.count < Self.deepest else {
            throw fault("more than \(Self.deepest) sections in each other", "Close some before you open others.", start)
        }
        var path = [name]
        var scope: Scope?
        if name == "first()" || name == "last()" {
            guard scopes.last?.list != nil else {
                throw fault("\(name) outside of a list", "Write it directly in {{#messages}}...{{/messages}}.", start)
            }
        } else {
            let shape: TemplateValue
            (path, shape) = try resolve(name, start)
            switch shape {
            case .list where scopes.contains(where: { $0.list == name }):
                throw fault("\(name) in itself", "Close {{#\(name)}} before you open it again.", start)
            // Where there is no value, there is nothing to take names from.
            case .list: scope = isInverted ? Scope(shape: .object([:])) : Scope(shape: shape, list: name)
            case .object, .text: scope = isInverted ? nil : Scope(shape: shape)
            case .flag: scope = nil
            }
        }
        open.append(
            Section(name: name, start: start, path: path, isInverted: isInverted, scope: scope, partsBefore: parts)
        )
        parts = []
    }

    private mutating func closeSection(_ name: String, _ start: Int) throws(FeedTemplateFault) {
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
        let part: TemplatePart = section.isInverted ? .inverted(section.path, parts) : .section(section.path, parts)
        parts = section.partsBefore + [part]
    }

    // MARK: - Names

    /// The path and the kind of the value that a name means here: it is looked for from the innermost section on.
    private func resolve(_ name: String, _ start: Int) throws(FeedTemplateFault) -> ([String], TemplateValue) {
        if name == "." {
            guard case .text? = scopes.last?.shape else {
                throw fault(
                    "{{.}} where there is no text",
                    "Write the name of a value; {{.}} is the text of a section such as {{#floor}}...{{/floor}}.", start
                )
            }
            return (["."], .text(""))
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

    private func fault(_ message: String, _ hint: String, _ start: Int) -> FeedTemplateFault {
        let before = characters[..<start]
        return FeedTemplateFault(
            line: 1 + before.count(where: \.isNewline), column: start - (before.lastIndex(where: \.isNewline) ?? -1),
            message: message, hint: hint
        )
    }
}

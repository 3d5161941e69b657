import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The options of a command for the columns of a record.
///
/// The argument parser finds options by reflection, so the mirror shows one for each of the record's, and `--clear` for
/// `edit`.
struct ColumnOptions<Record: EditableRecord, Verb: EditingVerb>: ParsableArguments, CustomReflectable {
    /// The options that were given, in the order of the columns.
    private let given: [Given]
    /// What `--clear` names.
    let cleared: [ClearedField<Record>]

    private struct Given {
        let column: ColumnDefinition
        let option: String
        let words: [ColumnWord]
    }

    /// A column, as the argument parser names what is decoded.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static var clearing: Option<[ClearedField<Record>]> {
        Option(
            wrappedValue: [], name: .customLong("clear"),
            help: ArgumentHelp("Set a field back to its default, mostly to none; can be repeated.", valueName: "field")
        )
    }
    private static var clearingKey: Key { Key(stringValue: "clear") }

    init() { (given, cleared) = ([], []) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        given = try Verb.options(of: Record.self).compactMap { name, option in
            let column = option.column.definition
            let words = try option.words(container, Key(stringValue: column.name), isAdding: Verb.isAdding)
            return words.isEmpty ? nil : Given(column: column, option: "--\(name)", words: words)
        }
        cleared =
            Verb.isAdding
            ? [] : try container.decode(Option<[ClearedField<Record>]>.self, forKey: Self.clearingKey).wrappedValue
    }

    var customMirror: Mirror {
        let options = Verb.options(of: Record.self).map { name, option in
            (label: String?.some(option.column.name), value: option.definition(name, isAdding: Verb.isAdding) as Any)
        }
        let clearing =
            Verb.isAdding ? [] : [(label: String?.some(Self.clearingKey.stringValue), value: Self.clearing as Any)]
        return Mirror(self, children: options + clearing)
    }

    /// What was given for a text; nil where nothing was.
    func text<Value>(_ path: KeyPath<Record, Value>) -> String? {
        guard case .text(let text)? = word(path) else { return nil }
        return text
    }

    /// Whether a flag was given that says yes.
    func isSet(_ path: KeyPath<Record, Bool>) -> Bool {
        if case .flag(true)? = word(path) { true } else { false }
    }

    /// Whether anything was given for a column.
    func has<Value>(_ path: KeyPath<Record, Value>) -> Bool { word(path) != nil }

    private func word<Value>(_ path: KeyPath<Record, Value>) -> ColumnWord? {
        let name = Record.column(path).name
        return given.first { $0.column.name == name }?.words.first
    }

    /// The values of the options that were given, and the defaults of what is cleared.
    ///
    /// - Parameter clock: Decides what times mean.
    func values(_ clock: CommandClock) throws -> [ColumnValue<Record>] {
        try given.map { given in
            try ColumnWord.value(given.words, of: given.column) { try clock.moment($0, of: given.option) }
        } + Set(cleared).compactMap(\.column).map { ColumnValue($0, $0.defaultValue ?? .null) }
    }

    /// What the ranges that were given mean in words, a line for each.
    var meanings: [String] {
        given.compactMap { given in
            guard given.column.type == .range, case .text(let range)? = given.words.first,
                let meaning = VersionRange(range)
            else { return nil }
            let remarks = meaning.remarks.isEmpty ? "" : " (\(meaning.remarks.joined(separator: "; ")))"
            return "\(given.column.name) \(range) means: \(meaning.inWords)\(remarks)"
        }
    }
}

extension ColumnOptions where Verb == Editing {
    /// Refuses an edit that changes nothing, or both sets and clears a column.
    ///
    /// - Parameters:
    ///   - changesRows: Whether other options change rows of other tables.
    ///   - examples: Some of the options, for the message.
    func requireChange(changesRows: Bool = false, examples: String) throws {
        if given.isEmpty, !changesRows, cleared.isEmpty {
            throw ValidationError("Say what to change, for example \(examples).")
        }
        if let both = cleared.compactMap(\.column).first(where: given.map(\.column).contains) {
            throw ValidationError("\(both.name) is both set and cleared; leave one of the two out.")
        }
    }
}

/// The verb of a command that edits columns, which decides what their options are called and which are required.
protocol EditingVerb {
    static var isAdding: Bool { get }
}

/// `add`
enum Adding: EditingVerb { static let isAdding = true }

/// `edit`
enum Editing: EditingVerb { static let isAdding = false }

extension EditingVerb {
    /// The options of the verb by their names.
    fileprivate static func options<Record: EditableRecord>(of _: Record.Type) -> [(String, ColumnOption<Record>)] {
        Record.options.compactMap { option in
            (isAdding ? option.name : option.nameInEdit).map { ($0, option) }
        }
    }
}

/// A value on the command line, as the type of its column has it.
enum ColumnWord: Sendable {
    case text(String)
    case flag(Bool)
    case integer(Int64)
    case time(TimeArgument)
    case attribute(NamedValue)

    /// The value of a column.
    ///
    /// - Parameters:
    ///   - words: What was given, several for a list.
    ///   - moment: The moment that a time means.
    static func value<Record>(
        _ words: [ColumnWord],
        of column: ColumnDefinition,
        moment: (TimeArgument) throws -> Timestamp
    ) rethrows -> ColumnValue<Record> {
        var texts: [UTF8Text] = []
        var attributes: [UTF8Text: [UTF8Text]] = [:]
        for word in words {
            switch word {
            case .flag(let flag): return ColumnValue(column, .boolean(flag))
            case .integer(let number): return ColumnValue(column, .integer(number))
            case .time(let time): return ColumnValue(column, .time(try moment(time)))
            case .attribute(let attribute):
                attributes[UTF8Text(attribute.name), default: []].append(UTF8Text(attribute.value))
            case .text(let text):
                guard column.type.isList else { return ColumnValue(column, written: text) }
                texts.append(UTF8Text(text))
            }
        }
        return ColumnValue(column, column.type == .attributes ? .attributes(attributes) : .texts(texts))
    }
}

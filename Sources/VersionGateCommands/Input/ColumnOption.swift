import ArgumentParser
import PolicyStore
import UpdatePolicy

/// The option for a column, as `add` and `edit` take it.
///
/// Its name, its kind and how its value is read follow from the column.
struct ColumnOption<Record: PolicyRecord>: Sendable {
    let column: PolicyColumn<Record>
    /// The name of the option of `add`, without its hyphens.
    let name: String
    /// That of `edit`; nil where another command changes the column.
    let nameInEdit: String?
    private let help: String
    private let valueName: String?
    private let completion: CompletionKind?
    private let parse: @Sendable (String) throws -> ColumnWord

    /// - Parameters:
    ///   - path: The property of the record.
    ///   - help: What the column means; of a list, of one of its values.
    ///   - value: What a value is called; by default as its type says.
    ///   - name: The name of the option; by default that of the column, of a list in the singular.
    ///   - completion: How a value is completed.
    ///   - nameInEdit: Another name for it in `edit`, where that name selects rows.
    ///   - isEdited: Whether `edit` has it, and not a command of its own.
    ///   - parse: Reads a value, where its type alone does not say how.
    init(
        _ path: PartialKeyPath<Record>,
        _ help: String,
        value: String? = nil,
        name: String? = nil,
        completion: CompletionKind? = nil,
        nameInEdit: String? = nil,
        isEdited: Bool = true,
        parse: (@Sendable (String) throws -> ColumnWord)? = nil
    ) {
        column = Record.column(path)
        self.name = name ?? Self.name(of: column.definition)
        self.help = column.type.isList ? help + "; can be repeated." : help + "."
        valueName = value ?? column.type.valueName
        self.completion = completion
        self.nameInEdit = isEdited ? nameInEdit ?? self.name : nil
        self.parse = parse ?? column.type.parse
    }

    /// The name of a column as an option has it.
    static func name(of column: ColumnDefinition) -> String {
        let name = column.name.replacing("_", with: "-")
        return column.type.isList ? String(name.dropLast()) : name
    }
}

// MARK: - In a command

extension ColumnOption {
    /// How the argument parser takes it.
    ///
    /// - Parameter isAdding: Whether it belongs to `add`, which requires what has no default.
    func definition(_ name: String, isAdding: Bool) -> any Decodable {
        let long = NameSpecification.customLong(name)
        let help = ArgumentHelp(stringLiteral: help)
        if column.type == .boolean {
            return isAdding
                ? Flag(wrappedValue: false, name: long, help: help)
                : Flag<Bool?>(name: long, inversion: .prefixedNo, exclusivity: .exclusive, help: help)
        }
        let described = ArgumentHelp(self.help, valueName: valueName)
        if column.type.isList {
            return Option<[ColumnWord]>(
                wrappedValue: [], name: long, help: described, completion: completion, transform: parse
            )
        }
        let parsing = column.type.parsing
        return isAdding && column.defaultValue == nil
            ? Option<ColumnWord>(
                name: long, parsing: parsing, help: described, completion: completion, transform: parse
            )
            : Option<ColumnWord?>(
                name: long, parsing: parsing, help: described, completion: completion, transform: parse
            )
    }

    /// What was given for it, a word for each value; none where it was not given.
    func words<Key>(_ container: KeyedDecodingContainer<Key>, _ key: Key, isAdding: Bool) throws -> [ColumnWord] {
        if column.type == .boolean {
            return isAdding
                ? try container.decode(Flag<Bool>.self, forKey: key).wrappedValue ? [.flag(true)] : []
                : try container.decode(Flag<Bool?>.self, forKey: key).wrappedValue.map { [.flag($0)] } ?? []
        }
        if column.type.isList { return try container.decode(Option<[ColumnWord]>.self, forKey: key).wrappedValue }
        if isAdding, column.defaultValue == nil {
            return [try container.decode(Option<ColumnWord>.self, forKey: key).wrappedValue]
        }
        return try container.decode(Option<ColumnWord?>.self, forKey: key).wrappedValue.map { [$0] } ?? []
    }
}

// MARK: - Values by their type

extension ColumnType {
    /// What a value is called in the help; nil: as the option.
    fileprivate var valueName: String? {
        switch self {
        case .range: "range"
        case .integer, .bigInteger: "number"
        case .percentage: "percent"
        case .time: "time"
        case .duration: "duration"
        case .attributes: "name=value"
        case .text, .key, .bundle, .language, .platform, .version, .texts, .platforms, .boolean: nil
        }
    }

    /// Values that may begin with a hyphen are taken as they are.
    fileprivate var parsing: SingleValueParsingStrategy {
        [.integer, .percentage, .time].contains(self) ? .unconditional : .next
    }

    /// Reads a value, and says how it is written.
    fileprivate var parse: @Sendable (String) throws -> ColumnWord {
        switch self {
        case .integer: { .integer(Int64(try WholeNumber.parse($0) as Int32)) }
        case .bigInteger: { .integer(try WholeNumber.parse($0)) }
        case .percentage: { .text(try PercentArgument.parse($0).number) }
        case .time: { .time(try TimeArgument.parse($0)) }
        case .duration: { .text(try DurationArgument.parse($0)) }
        case .attributes: { .attribute(try NamedValue.attribute($0)) }
        case .text, .key, .bundle, .language, .platform, .version, .range, .texts, .platforms, .boolean: { .text($0) }
        }
    }
}

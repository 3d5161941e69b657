import ArgumentParser
import PolicyStore
import UpdatePolicy

struct GivenColumn<Record: PolicyRecord>: Sendable {
    enum Value: Sendable {
        /// What the database reads.
        case written(String)
        case time(TimeArgument)
        case parsed(PolicyValue)
    }

    let column: ColumnDefinition
    let value: Value

    /// Nil where nothing was given.
    init?(_ column: ColumnDefinition, _ given: Any?) {
        switch given {
        case let text as String: value = .written(text)
        case let time as TimeArgument: value = .time(time)
        case let flag as Bool: value = .parsed(.boolean(flag))
        case let number as Int64: value = .parsed(.integer(number))
        case let texts as [String] where !texts.isEmpty: value = .parsed(.texts(texts.map { UTF8Text($0) }))
        case let attributes as [AttributeCondition] where !attributes.isEmpty:
            let values = attributes.map { (UTF8Text($0.name), $0.values) }
            value = .parsed(.attributes(Dictionary(values) { $0.joined(with: $1) ?? $0 }))
        default: return nil
        }
        self.column = column
    }

    func value(_ clock: CommandClock) throws -> ColumnValue<Record> {
        switch value {
        case .written(let text): ColumnValue(column, written: text)
        case .time(let time): ColumnValue(column, .time(try clock.moment(time, of: "--\(column.optionName)")))
        case .parsed(let value): ColumnValue(column, value)
        }
    }

    /// The ranges in it, each with what is to be in it.
    fileprivate var ranges: [(name: String, range: String)] {
        switch value {
        case .written(let range) where column.type == .range: [(column.name, range)]
        case .parsed(.attributes(let attributes)):
            attributes.sorted { $0.key < $1.key }.compactMap { name, values in
                values.range.map { (name.string, $0.string) }
            }
        default: []
        }
    }
}

/// What `--clear` names: a column that gets its default, or the store links of an app.
///
/// Flags have options that set them back, and the share of installs has a command of its own.
struct ClearedField<Record: PolicyRecord>: ExpressibleByArgument, CaseIterable, CustomStringConvertible, Sendable {
    let description: String
    let column: ColumnDefinition?

    static var allCases: [Self] {
        let columns = Record.columns.map(\.definition).filter { column in
            column.defaultValue == .null
                || column.defaultValue != nil && ![.boolean, .percentage].contains(column.type)
        }
        return columns.map { Self(description: $0.optionName, column: $0) }
            + (Record.table == .apps ? [Self(description: "store-links", column: nil)] : [])
    }

    private init(description: String, column: ColumnDefinition?) {
        (self.description, self.column) = (description, column)
    }

    init?(argument: String) {
        let name = argument.replacing("-", with: "_")
        guard let field = Self.allCases.first(where: { $0.description == argument || $0.column?.name == name }) else {
            return nil
        }
        self = field
    }
}

extension ColumnDefinition {
    /// The name of its option; that of a list is given once for each value.
    fileprivate var optionName: String {
        let name = name.replacing("_", with: "-")
        return type.isList ? String(name.dropLast()) : name
    }
}

private protocol ColumnOption { var given: Any { get } }

extension Option: ColumnOption { fileprivate var given: Any { wrappedValue } }

extension Flag: ColumnOption { fileprivate var given: Any { wrappedValue } }

struct ColumnEdit<Record: PolicyRecord>: Sendable {
    let given: [GivenColumn<Record>]
    let cleared: [ClearedField<Record>]

    /// - Parameter options: Where a property is called as a column, in camel case, it sets that.
    init(
        _ options: any ParsableArguments...,
        also others: [GivenColumn<Record>?] = [],
        clearing cleared: [ClearedField<Record>] = []
    ) {
        let given = options.flatMap { Mirror(reflecting: $0).children }.compactMap { child -> GivenColumn<Record>? in
            let name = String((child.label ?? "").dropFirst()).replacing(/[A-Z]+/) { "_" + $0.output.lowercased() }
            guard let column = Record.columns.first(where: { $0.name == name }) else { return nil }
            return GivenColumn(column.definition, (child.value as? any ColumnOption)?.given)
        }
        (self.given, self.cleared) = (given + others.compactMap(\.self), cleared)
    }

    func values(_ clock: CommandClock) throws -> [ColumnValue<Record>] {
        try given.map { try $0.value(clock) }
            + Set(cleared.compactMap(\.column)).map { ColumnValue($0, $0.defaultValue ?? .null) }
    }

    /// Refuses an edit that changes nothing, or both sets and clears a column.
    ///
    /// - Parameter changesRows: Whether other options change rows of other tables.
    func requireChange(changesRows: Bool = false, examples: String) throws {
        if given.isEmpty, !changesRows, cleared.isEmpty {
            throw ValidationError("Say what to change, for example \(examples).")
        }
        if let both = cleared.compactMap(\.column).first(where: given.map(\.column).contains) {
            throw ValidationError("\(both.name) is both set and cleared; leave one of the two out.")
        }
    }

    var meanings: [String] {
        given.flatMap(\.ranges).compactMap { name, range in
            guard let meaning = VersionRange(range) else { return nil }
            let warnings = meaning.remarks.isEmpty ? "" : " (\(meaning.remarks.joined(separator: "; ")))"
            return "\(name) \(range) means: \(meaning.inWords)\(warnings)"
        }
    }
}

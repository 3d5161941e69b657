import ArgumentParser
import PolicyStore
import UpdatePolicy

/// A column and what an option gives it.
struct GivenColumn<Record: PolicyRecord>: Sendable {
    let column: ColumnDefinition
    /// What was written, where it is one text.
    let text: String?
    /// The value, by the clock that decides what times mean.
    let value: @Sendable (CommandClock) throws -> ColumnValue<Record>

    private init(_ path: PartialKeyPath<Record>, _ value: PolicyValue) {
        let column = Record.column(path).definition
        (self.column, text) = (column, nil)
        self.value = { _ in ColumnValue(column, value) }
    }

    /// What the database reads.
    init?(_ path: PartialKeyPath<Record>, _ text: String?) {
        guard let text else { return nil }
        let column = Record.column(path).definition
        (self.column, self.text) = (column, text)
        value = { _ in ColumnValue(column, written: text) }
    }

    init?(_ path: PartialKeyPath<Record>, _ time: TimeArgument?) {
        guard let time else { return nil }
        let column = Record.column(path).definition
        (self.column, text) = (column, nil)
        value = { clock in ColumnValue(column, .time(try clock.moment(time, of: "--\(column.optionName)"))) }
    }

    init?(_ path: PartialKeyPath<Record>, _ texts: [String]) {
        guard !texts.isEmpty else { return nil }
        self.init(path, .texts(texts.map { UTF8Text($0) }))
    }

    init?(_ path: PartialKeyPath<Record>, _ flag: Bool?) {
        guard let flag else { return nil }
        self.init(path, .boolean(flag))
    }

    init?(_ path: PartialKeyPath<Record>, _ number: Int64?) {
        guard let number else { return nil }
        self.init(path, .integer(number))
    }

    init?(_ path: PartialKeyPath<Record>, _ attributes: [NamedValue]) {
        guard !attributes.isEmpty else { return nil }
        let values = Dictionary(grouping: attributes) { UTF8Text($0.name) }
        self.init(path, .attributes(values.mapValues { $0.map { UTF8Text($0.value) } }))
    }
}

/// What `--clear` names: a column that gets its default, or the store links of an app.
///
/// Flags have options that set them back, and the share of installs has a command of its own.
struct ClearedField<Record: PolicyRecord>: ExpressibleByArgument, CaseIterable, CustomStringConvertible, Sendable {
    let description: String
    /// The column; nil for the store links.
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

/// The columns that an edit sets, and those that it clears.
struct ColumnEdit<Record: PolicyRecord>: Sendable {
    let given: [GivenColumn<Record>]
    let cleared: [ClearedField<Record>]

    init(_ given: [GivenColumn<Record>?], clearing cleared: [ClearedField<Record>] = []) {
        (self.given, self.cleared) = (given.compactMap(\.self), cleared)
    }

    func values(_ clock: CommandClock) throws -> [ColumnValue<Record>] {
        try given.map { try $0.value(clock) }
            + Set(cleared.compactMap(\.column)).map { ColumnValue($0, $0.defaultValue ?? .null) }
    }

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

    /// What the ranges that were given mean in words, a line for each.
    var meanings: [String] {
        given.compactMap { given in
            guard given.column.type == .range, let range = given.text, let meaning = VersionRange(range) else {
                return nil
            }
            let remarks = meaning.remarks.isEmpty ? "" : " (\(meaning.remarks.joined(separator: "; ")))"
            return "\(given.column.name) \(range) means: \(meaning.inWords)\(remarks)"
        }
    }
}

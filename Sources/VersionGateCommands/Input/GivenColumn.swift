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

    private init?(_ path: PartialKeyPath<Record>, _ value: Value?) {
        guard let value else { return nil }
        (column, self.value) = (Record.column(path).definition, value)
    }

    init?(_ path: PartialKeyPath<Record>, _ text: String?) { self.init(path, text.map { .written($0) }) }
    init?(_ path: PartialKeyPath<Record>, _ time: TimeArgument?) { self.init(path, time.map { .time($0) }) }
    init?(_ path: PartialKeyPath<Record>, _ flag: Bool?) { self.init(path, flag.map { .parsed(.boolean($0)) }) }
    init?(_ path: PartialKeyPath<Record>, _ number: Int64?) { self.init(path, number.map { .parsed(.integer($0)) }) }

    init?(_ path: PartialKeyPath<Record>, _ texts: [String]) {
        self.init(path, texts.isEmpty ? nil : .parsed(.texts(texts.map { UTF8Text($0) })))
    }

    init?(_ path: PartialKeyPath<Record>, _ attributes: [NamedValue]) {
        let values = Dictionary(grouping: attributes) { UTF8Text($0.name) }
        self.init(
            path, values.isEmpty ? nil : .parsed(.attributes(values.mapValues { $0.map { UTF8Text($0.value) } }))
        )
    }

    func value(_ clock: CommandClock) throws -> ColumnValue<Record> {
        switch value {
        case .written(let text): ColumnValue(column, written: text)
        case .time(let time): ColumnValue(column, .time(try clock.moment(time, of: "--\(column.optionName)")))
        case .parsed(let value): ColumnValue(column, value)
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
        given.compactMap { given in
            guard given.column.type == .range, case .written(let range) = given.value,
                let meaning = VersionRange(range)
            else { return nil }
            let warnings = meaning.remarks.isEmpty ? "" : " (\(meaning.remarks.joined(separator: "; ")))"
            return "\(given.column.name) \(range) means: \(meaning.inWords)\(warnings)"
        }
    }
}

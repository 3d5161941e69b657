import ArgumentParser
import PolicyStore
import UpdatePolicy

/// A record of the policy that commands add and edit.
protocol EditableRecord: PolicyRecord {
    /// The options for its columns.
    static var options: [ColumnOption<Self>] { get }
    /// Tables of the rows that belong to a record, which `--clear` can empty.
    static var clearedTables: [PolicyTable] { get }
}

extension EditableRecord {
    /// None.
    static var clearedTables: [PolicyTable] { [] }
}

/// What `--clear` names: a column that gets its default, or a table that loses the record's rows.
///
/// Flags have options that set them back, and the share of installs has a command of its own.
struct ClearedField<Record: EditableRecord>: Hashable, Sendable, CustomStringConvertible {
    /// The name: that of the column's option.
    let description: String
    /// The column; nil for rows.
    let column: ColumnDefinition?

    private init(_ column: ColumnDefinition) {
        self.column = column
        description = ColumnOption<Record>.name(of: column)
    }

    /// All rows of a table that belong to the record.
    init(rowsOf table: PolicyTable) {
        column = nil
        description = table.rawValue.replacing("_", with: "-")
    }
}

extension ClearedField: ExpressibleByArgument, CaseIterable {
    static var allCases: [Self] {
        Record.columns.map(\.definition).filter { column in
            column.defaultValue == .null
                || column.defaultValue != nil && ![.boolean, .percentage].contains(column.type)
        }.map { ClearedField($0) } + Record.clearedTables.map { ClearedField(rowsOf: $0) }
    }

    /// Takes the name of a column for that of its option.
    init?(argument: String) {
        let field = Self.allCases.first { field in
            field.description == argument || field.column?.name.replacing("_", with: "-") == argument
        }
        guard let field else { return nil }
        self = field
    }
}

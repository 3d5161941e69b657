import Postgres
package import UpdatePolicy

/// A column of a record with the value to set or to match.
///
/// What PostgreSQL judges (numbers with decimals, times, durations) goes as the text that the user wrote, so that the
/// database alone refuses values, and its message quotes what was written.
package struct ColumnValue<Record: PolicyRecord>: Sendable {
    let name: String
    let type: ColumnType
    let parameter: (any PostgresEncodable)?

    private init(_ name: String, _ type: ColumnType, _ parameter: (any PostgresEncodable)?) {
        self.name = name
        self.type = type
        self.parameter = parameter
    }

    /// The column of a property with a value.
    package init<Value>(_ path: WritableKeyPath<Record, Value>, _ value: Value) {
        let column = Record.column(path)
        var record = Record.blank
        record[keyPath: path] = value
        self.init(column.definition, column.value(of: record))
    }

    /// A column with a value.
    ///
    /// - Precondition: The value is of the column's type.
    package init(_ column: ColumnDefinition, _ value: PolicyValue) {
        let parameter: (any PostgresEncodable)? =
            switch value {
            case .null: nil
            case .text(let text): text.string
            case .texts(let texts): texts.map(\.string)
            case .boolean(let flag): flag
            case .integer(let number): number
            case .percentage(let percentage): percentage.description
            case .time(let time): time.description
            case .duration(let duration): duration.description
            case .attributes: value.json
            }
        self.init(column.name, column.type, parameter)
    }

    /// A column with what a user wrote.
    ///
    /// - Precondition: The column is neither a list nor a flag nor a whole number.
    package init(_ column: ColumnDefinition, written text: String) {
        self.init(column.name, column.type, text)
    }

    /// The column of a property with what a user wrote.
    package init<Value>(_ path: KeyPath<Record, Value>, written text: String) {
        self.init(Record.column(path).definition, written: text)
    }

    /// The app or the rule that a row belongs to.
    package static func owner(_ name: String) -> ColumnValue { owner(.text(UTF8Text(name))) }

    /// The release that a row belongs to, by its id.
    package static func owner(_ id: Int64) -> ColumnValue { owner(.integer(id)) }

    private static func owner(_ value: PolicyValue) -> ColumnValue {
        guard let owner = Record.owner else { preconditionFailure("\(Record.table.rawValue) belong to nothing") }
        return ColumnValue(owner, value)
    }

    /// The id of a release.
    package static func id(_ id: Int64) -> ColumnValue where Record == Release {
        ColumnValue("id", .bigInteger, id)
    }

    /// The SQL type that the parameter is cast to, behind the one that it is sent as.
    var cast: String {
        switch type {
        case .text, .key, .bundle, .language, .platform, .version, .range: "text"
        case .texts, .platforms: "text[]"
        case .boolean: "boolean"
        case .integer, .bigInteger: "bigint"
        case .percentage: "text::numeric"
        case .time: "text::timestamptz"
        case .duration: "text::interval"
        case .attributes: "text::jsonb"
        }
    }
}

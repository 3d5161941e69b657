import Postgres
package import UpdatePolicy

package struct ColumnValue<Record: PolicyRecord>: Sendable {
    let name: String
    let type: ColumnType
    let json: JSONValue

    private init(_ name: String, _ type: ColumnType, _ json: JSONValue) {
        (self.name, self.type, self.json) = (name, type, json)
    }

    package init<Value>(_ path: WritableKeyPath<Record, Value>, _ value: Value) {
        let column = Record.column(path)
        var record = Record.blank
        record[keyPath: path] = value
        self.init(column.definition, column.value(of: record))
    }

    package init(_ column: ColumnDefinition, _ value: PolicyValue) {
        self.init(column.name, column.type, value.jsonValue)
    }

    /// A column with what a user wrote, which the database reads: so it alone refuses values, and quotes what was written.
    package init(_ column: ColumnDefinition, written text: String) {
        self.init(column.name, column.type, .string(text))
    }

    package init<Value>(_ path: KeyPath<Record, Value>, written text: String) {
        self.init(Record.column(path).definition, written: text)
    }

    package static func owner(_ name: String) -> ColumnValue { owner(.text(UTF8Text(name))) }
    package static func owner(_ id: Int64) -> ColumnValue { owner(.integer(id)) }

    private static func owner(_ value: PolicyValue) -> ColumnValue {
        guard let owner = Record.owner else { preconditionFailure("\(Record.table.rawValue) belong to nothing") }
        return ColumnValue(owner, value)
    }

    package static func id(_ id: Int64) -> ColumnValue where Record == Release {
        ColumnValue("id", .bigInteger, .integer(id))
    }
}

extension PolicyValue: JSONConvertible {
    package var jsonValue: JSONValue {
        switch self {
        case .null: .null
        case .text(let text): .string(text.string)
        case .texts(let texts): texts.map(\.string).jsonValue
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): .integer(number)
        case .percentage(let percentage): percentage.jsonValue
        case .time(let time): .string(time.description.replacing(/(?:(\.\d*[1-9])0*)?Z/) { "\($0.1 ?? "")+00:00" })
        case .duration(let duration): .string(duration.inPostgres)
        case .attributes(let attributes):
            .object(attributes.sorted { $0.key < $1.key }.map { (name: $0.string, value: $1.jsonValue) })
        }
    }
}

extension DayTimeInterval {
    /// As PostgreSQL writes it: `1 day 12:00:00`.
    fileprivate var inPostgres: String {
        // A negative one is refused, and is written so that it stays one until then.
        guard days >= 0, microseconds >= 0 else { return description }
        let time = String(Timestamp(microsecondsSince1970: microseconds).description.dropFirst(11).dropLast())
        let days = days == 0 ? "" : "\(self.days) day\(self.days == 1 ? "" : "s")"
        guard microseconds != 0 || self.days == 0 else { return days }
        let digits = time.contains(".") ? time.replacing(/0+$/, with: "") : time
        return (days.isEmpty ? "" : days + " ") + digits
    }
}

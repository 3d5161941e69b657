package import Postgres
package import UpdatePolicy

extension Timestamp: PostgresEncodable, PostgresArrayElement, PostgresDecodable {
    package static var postgresType: PostgresType { PostgresTimestamp.postgresType }
    package static var postgresArrayType: PostgresType { PostgresTimestamp.postgresArrayType }

    package func encode(into encoder: inout PostgresEncoder) throws(PostgresError) {
        try PostgresTimestamp(self).encode(into: &encoder)
    }

    package init(from cell: PostgresCell) throws(PostgresError) {
        self.init(try PostgresTimestamp(from: cell))
    }

    init(_ timestamp: PostgresTimestamp) {
        self.init(microsecondsSince1970: timestamp.microsecondsSince1970)
    }
}

extension PostgresTimestamp {
    init(_ timestamp: Timestamp) {
        self.init(microsecondsSince1970: timestamp.microsecondsSince1970)
    }
}

extension Percentage: PostgresDecodable {
    /// Reads a column that holds hundredths of a percent.
    package init(from cell: PostgresCell) throws(PostgresError) {
        let hundredths = try Int(from: cell)
        guard let percentage = Percentage(hundredths: hundredths) else {
            throw cell.error("it holds \(hundredths) hundredths of a percent, not 0 to 10000")
        }
        self = percentage
    }
}

extension PostgresDecodable where Self: RawRepresentable, RawValue == String {
    package init(from cell: PostgresCell) throws(PostgresError) {
        let text = try String(from: cell)
        guard let value = Self(rawValue: text) else { throw cell.error("\(text) is none of its cases") }
        self = value
    }
}

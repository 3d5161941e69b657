import Postgres
import UpdatePolicy

extension Timestamp {
    /// The same time as PostgreSQL sends it.
    init(_ timestamp: PostgresTimestamp) {
        self.init(microsecondsSince1970: timestamp.microsecondsSince1970)
    }
}

extension PostgresTimestamp {
    /// The same time as the policy knows it.
    init(_ timestamp: Timestamp) {
        self.init(microsecondsSince1970: timestamp.microsecondsSince1970)
    }
}

extension Percentage {
    /// Reads a column that holds hundredths of a percent.
    init(row: PostgresRow, column: Int) throws {
        let hundredths = Int(try row.decode(column, as: Int32.self))
        guard let percentage = Percentage(hundredths: hundredths) else {
            throw PostgresError(
                .decoding,
                "column \(row.columns[column].name) holds \(hundredths) hundredths of a percent, not 0 to 10000"
            )
        }
        self = percentage
    }
}

import Foundation
package import Postgres

/// What the database says for programs of a refusal or a warning, as `versiongate_internal.refuse` describes it.
package struct PolicyFault: Decodable, Sendable {
    /// The cure on a command line; nil where the hint fits there. Commands stand in backticks, values in braces.
    package let command: String?
    package let file: String?
    package let hint: String?
    /// The columns that tell the row which a guard has refused; nil is NULL.
    package let row: [String: String?]?
    package let words: [String: String?]?

    /// Nil if PostgreSQL refused or warned by itself.
    package init?(_ error: PostgresError) { self.init(error.dataType) }
    package init?(_ notice: PostgresNotice) { self.init(notice.dataType) }

    private init?(_ json: String?) {
        guard let json, let fault = try? JSONDecoder().decode(PolicyFault.self, from: Data(json.utf8)) else {
            return nil
        }
        self = fault
    }
}

import Foundation
package import Postgres

/// What the database says for programs of a refusal or a warning, as `versiongate_internal.refuse` describes it.
package struct PolicyFault: Decodable, Sendable {
    /// The cure on a command line; nil where the hint fits there. Commands stand in backticks, values in braces.
    package let command: String?
    /// The cure in a policy file, where it is another.
    package let file: String?
    /// What is said before the cure.
    package let hint: String?
    /// The columns that tell the row which a guard has refused; nil is NULL.
    package let row: [String: String?]?
    /// Values for commands.
    package let words: [String: String?]?

    /// What an error of the database says; nil if PostgreSQL refused by itself.
    package init?(_ error: PostgresError) { self.init(error.dataType) }

    /// What a warning of the database says; nil if it is PostgreSQL's own.
    package init?(_ notice: PostgresNotice) { self.init(notice.dataType) }

    init?(_ json: String?) {
        guard let json, let fault = try? JSONDecoder().decode(PolicyFault.self, from: Data(json.utf8)) else {
            return nil
        }
        self = fault
    }
}

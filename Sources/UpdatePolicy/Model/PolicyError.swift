/// A row because of which a policy cannot be compiled.
///
/// The database refuses such rows when they are written; a policy that has one comes from elsewhere, or from a newer
/// schema.
package struct PolicyError: Error, Sendable, Equatable {
    /// The row: `rule security-2.3`, `release 12`, `app com.example.doto`.
    package let row: String

    /// What is wrong with it.
    package let reason: String

    /// A fault of a row.
    package init(row: String, reason: String) {
        self.row = row
        self.reason = reason
    }
}

extension PolicyError: CustomStringConvertible {
    /// The row and what is wrong with it.
    package var description: String { "\(row): \(reason)" }
}

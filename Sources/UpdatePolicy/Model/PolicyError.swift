/// A row because of which a policy cannot be compiled.
///
/// The database refuses such rows when they are written; a policy that has one comes from elsewhere, or from a newer
/// schema.
package struct PolicyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The row: `rule security-2.3`, `release 12`, `app com.example.doto`.
    package let row: String

    package let reason: String

    package var description: String { "\(row): \(reason)" }
}

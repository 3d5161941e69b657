/// A name of a table, role, database or channel, quoted for use inside a statement where no parameter can stand.
package struct PostgresIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The name in double quotes, inner ones doubled.
    package let description: String

    /// Quotes a name. Throws `.encoding` if it is empty, holds a NUL, or is longer than the 63 bytes that
    /// PostgreSQL keeps.
    package init(_ name: String) throws(PostgresError) {
        guard !name.isEmpty, name.utf8.count <= 63, !name.utf8.contains(0) else {
            throw PostgresError(.encoding, "a name in SQL has 1 to 63 bytes, none of them NUL")
        }
        description =
            "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

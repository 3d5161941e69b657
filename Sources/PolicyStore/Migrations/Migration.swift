import UpdatePolicy

/// One step of the schema: a plain SQL file that the binary carries.
package struct Migration: Sendable, Hashable {
    /// The file's name without its ending: `0001_versions`.
    package let name: String
    /// The file's contents.
    package let sql: String
    /// SHA-256 of the contents, in hexadecimal digits.
    package let checksum: String

    /// Creates a migration.
    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
        checksum = SHA256.hash(data: sql.utf8).hexadecimal
    }

    /// All migrations that this binary knows, in order.
    package static let all = embeddedFiles.map { Migration(name: String($0.name.dropLast(".sql".count)), sql: $0.text) }
}

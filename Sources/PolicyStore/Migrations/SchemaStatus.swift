package import Postgres
import UpdatePolicy

package struct SchemaStatus: Sendable, Hashable {
    package let applied: [Migration]
    package let pending: [Migration]
    package let unknown: [String]

    /// Refuses a schema that is not exactly this binary's; commands that edit ask for this first.
    package func requireCurrent() throws(SchemaError) {
        if applied.isEmpty, unknown.isEmpty, !pending.isEmpty { throw .notInstalled }
        if !pending.isEmpty { throw .older(pending: pending.map(\.name)) }
        if !unknown.isEmpty { throw .newer(unknown: unknown) }
    }

    /// Refuses a schema that is not there or older than this binary's; a newer one can be read.
    package func requireReadable() throws(SchemaError) {
        if unknown.isEmpty { try requireCurrent() }
    }
}

package struct SchemaFault: Sendable, Hashable, Decodable {
    package let fault: String
    package let remedy: String
    package let isDangerous: Bool
    package let stopsServers: Bool

    /// Asks a database for its faults; none where there is no schema yet. Any role may ask.
    package static func all(_ session: PostgresSession) throws -> [SchemaFault] {
        let isThere = "SELECT to_regprocedure('public.schema_faults()') IS NOT NULL"
        guard try session.query(isThere).value() else { return [] }
        return try session.query("SELECT fault, remedy, is_dangerous, stops_servers FROM public.schema_faults()").rows()
    }
}

/// One step of the schema: a plain SQL file that the binary carries.
package struct Migration: Sendable, Hashable {
    package let name: String
    package let sql: String
    package let checksum: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
        checksum = SHA256.hash(data: sql.utf8).hexadecimal
    }

    package static let all = embeddedFiles.map { Migration(name: String($0.name.dropLast(".sql".count)), sql: $0.text) }
}

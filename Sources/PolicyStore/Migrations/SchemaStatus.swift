package import Postgres

/// How the schema of a database compares with the migrations of this binary.
package struct SchemaStatus: Sendable, Hashable {
    package let applied: [Migration]
    package let pending: [Migration]
    /// The names of migrations that the database has and this binary does not know.
    package let unknown: [String]

    /// Refuses a schema that is not exactly this binary's; commands that edit ask for this first.
    package func requireCurrent() throws(SchemaError) {
        if applied.isEmpty, unknown.isEmpty, !pending.isEmpty {
            throw .notInstalled
        }
        if !pending.isEmpty {
            throw .older(pending: pending.map(\.name))
        }
        if !unknown.isEmpty {
            throw .newer(unknown: unknown)
        }
    }

    /// Refuses a schema that is not there or older than this binary's; a newer one can be read.
    package func requireReadable() throws(SchemaError) {
        if unknown.isEmpty {
            try requireCurrent()
        }
    }
}

/// A fault of the privileges in a database, as its function `schema_faults` reports it.
package struct SchemaFault: Sendable, Hashable, Decodable {
    package let fault: String
    package let remedy: String
    /// Whether somebody can act as the owner of the schema.
    package let isDangerous: Bool
    /// Whether servers cannot read what they need.
    package let stopsServers: Bool

    /// Asks a database for its faults; none where there is no schema yet. Any role may ask.
    package static func all(_ session: PostgresSession) throws -> [SchemaFault] {
        guard try session.query("SELECT to_regprocedure('public.schema_faults()') IS NOT NULL").value(as: Bool.self)
        else { return [] }
        return try session.query("SELECT fault, remedy, is_dangerous, stops_servers FROM public.schema_faults()").rows()
    }
}

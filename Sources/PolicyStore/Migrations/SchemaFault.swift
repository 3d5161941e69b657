// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Postgres

/// Something that is wrong with the rights in a database, as its function `schema_faults` tells.
public struct SchemaFault: Sendable, Hashable {
    /// What is wrong.
    public let fault: String
    /// What to do, with the statements.
    public let remedy: String
    /// Whether somebody can act as the owner of the schema.
    public let isDangerous: Bool

    /// Asks a database for its faults; none where there is no schema yet. Any role may ask.
    ///
    /// - Throws: `PostgresError`.
    public static func all(_ session: PostgresSession) throws -> [SchemaFault] {
        guard try session.query("SELECT to_regprocedure('public.schema_faults()') IS NOT NULL").value(as: Bool.self)
        else { return [] }
        return try session.query("SELECT fault, remedy, is_dangerous FROM public.schema_faults()").map { row in
            SchemaFault(
                fault: try row.decode(0, as: String.self),
                remedy: try row.decode(1, as: String.self),
                isDangerous: try row.decode(2, as: Bool.self)
            )
        }
    }
}

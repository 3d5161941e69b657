// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How the schema of a database compares with the migrations of this binary.
public struct SchemaStatus: Sendable, Hashable {
    /// The migrations that both have.
    public let applied: [Migration]
    /// The migrations that the database lacks.
    public let pending: [Migration]
    /// The names of migrations that the database has and this binary does not know.
    public let unknown: [String]

    /// Refuses a schema that is not exactly this binary's; commands that edit ask for this first.
    public func requireCurrent() throws(SchemaError) {
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
    public func requireReadable() throws(SchemaError) {
        if unknown.isEmpty {
            try requireCurrent()
        }
    }
}

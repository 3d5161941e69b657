// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres

/// The rows of a policy at one revision, and the change that brought it there.
struct PresentPolicy: Sendable {
    let version: PolicyVersion
    let change: PolicyChange?
    let rows: PolicyRows
}

extension DatabaseOptions {
    /// Reads all rows that people edit, as one moment's state.
    func policyRows() async throws -> PresentPolicy {
        try await withConnection(as: .admin) { connection, logger in
            try await Progress.showing("Reading the policy") {
                try await connection.transaction(.repeatableReadReadOnly) { session in
                    try SchemaMigrator(logger: logger).status(session).requireReadable()
                    let version = try PolicyReader.version(session)
                    let change = try PolicyHistory(session).change(version.revision)
                    return PresentPolicy(version: version, change: change, rows: try PolicyRows(session))
                }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres
import UpdatePolicy

/// A policy with its notes at one revision, and the change that brought it there.
struct PresentPolicy: Sendable {
    let version: PolicyVersion
    let change: PolicyChange?
    let policy: Policy
}

extension DatabaseOptions {
    /// Reads all that people edit, as one moment's state.
    func editedPolicy() async throws -> PresentPolicy {
        try await withConnection(as: .admin) { connection, logger in
            try await Progress.showing("Reading the policy") {
                try await connection.transaction(.repeatableReadReadOnly) { session in
                    try SchemaMigrator(logger: logger).status(session).requireReadable()
                    let version = try PolicyReader.version(session)
                    let change = try PolicyHistory(session).change(version.revision)
                    return PresentPolicy(
                        version: version,
                        change: change,
                        policy: try PolicyReader.editedPolicy(session)
                    )
                }
            }
        }
    }
}

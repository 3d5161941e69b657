// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestDatabase
import Testing

extension TestDatabase {
    /// Adds counted checks as a server would.
    ///
    /// - Parameter values: Rows of `check_counts`, as SQL: hour, bundle, platform, version, checks, messages, lockouts.
    func addCounts(_ values: String) async throws {
        let result = try await psql(
            "INSERT INTO check_counts (hour, bundle, platform, version, checks, messages, lockouts) VALUES \(values)",
            user: "versiongate_server"
        )
        #expect(result.isSuccess, "\(result.errors)")
    }

    /// Edits the policy as an admin would by psql.
    func edit(_ sql: String) async throws {
        let result = try await psql(sql, user: "versiongate_admin")
        #expect(result.isSuccess, "\(result.errors)")
    }

    /// The revision of the policy.
    func revision() async throws -> String {
        try await psql("SELECT revision FROM policy_revision").output
    }
}

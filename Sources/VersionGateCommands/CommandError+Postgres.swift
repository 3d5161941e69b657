// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import PrivatePostgres

extension CommandError {
    /// Runs `body`, and says errors of the database in words for people.
    static func explaining<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw CommandError(error)
        }
    }

    /// A refusal of the database with its detail and hint, or how the database failed.
    init(_ error: PostgresError) {
        switch error.code {
        case .server where error.sqlState == .insufficientPrivilege && (error.hint ?? "").isEmpty:
            self.init("\(error.message); log in as versiongate_admin to edit, as the schema's owner to migrate")
        case .server:
            var lines = [error.message]
            if let detail = error.detail, !detail.isEmpty { lines.append(detail) }
            if let hint = error.hint, !hint.isEmpty { lines.append("Hint: \(hint)") }
            self.init(lines.joined(separator: "\n"))
        case .connectionFailed:
            self.init(
                "the database cannot be reached: \(error.message); check --database-url or DATABASE_URL, and that the "
                    + "server runs"
            )
        default:
            self.init("the database failed: \(error)")
        }
    }
}

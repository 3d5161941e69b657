// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
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

    /// Others have edited the policy and not committed, so that this edit has to wait for them.
    static func openEdits(_ edits: [OpenEdit], database: String) -> CommandError {
        let who = edits.map { edit in
            "process \(edit.processID) of \(edit.role)" + (edit.application.isEmpty ? "" : " (\(edit.application))")
        }
        let fault = "somebody else is editing the same rows and has not committed"
        let cure = "try again when they are done"
        guard let first = edits.first else {
            return CommandError("\(fault); nothing was changed on \(database); \(cure)")
        }
        return CommandError(
            "\(fault): \(who.joined(separator: ", ")); nothing was changed on \(database); \(cure), or end their session: "
                + "SELECT pg_terminate_backend(\(first.processID))"
        )
    }

    /// A refusal of the database with its detail and hint, or how the database failed.
    init(_ error: PostgresError) {
        switch error.code {
        case .server where error.sqlState == .insufficientPrivilege && (error.hint ?? "").isEmpty:
            self.init(
                "\(error.message); log in as a viewer to read, as a planner to plan, as an admin to edit (`versiongate user "
                    + "add` makes them), or as the schema's owner to migrate"
            )
        case .server:
            var lines = [error.message]
            if let detail = error.detail, !detail.isEmpty { lines.append(detail) }
            let hint = CommandHint.hint(constraint: error.constraint, detail: error.detail) ?? error.hint
            if let hint, !hint.isEmpty { lines.append("Hint: \(hint)") }
            self.init(lines.joined(separator: "\n"))
        case .connectionFailed:
            self.init(
                "the database cannot be reached: \(error.message); check --database-url, --context or DATABASE_URL, and that the "
                    + "server runs"
            )
        default:
            self.init("the database failed: \(error)")
        }
    }
}

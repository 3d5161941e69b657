// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import PolicyStore
import Postgres

extension EditOptions {
    /// Makes one edit, prints what changed and how to take it back, and repeats the warnings of the database.
    func edit(_ body: @Sendable (PolicyEditor) throws -> Void) async throws {
        let author = EditAuthor(osUser: NSUserName(), why: why)
        let change = try await database.withConnection(
            as: .admin,
            onNotice: Self.repeatWarning
        ) { connection, logger in
            try await PolicyEditing(connection, logger: logger).edit(by: author, body)
        }
        print(ChangeReport(change: change).text)
    }

    /// Repeats a warning of the database on standard error.
    @Sendable static func repeatWarning(_ notice: PostgresNotice) {
        guard notice.isWarning else { return }
        let hint = notice.hint.map { " (\($0))" } ?? ""
        FileHandle.standardError.write(Data("Warning: \(notice.message)\(hint)\n".utf8))
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import PolicyStore
import Postgres

extension EditOptions {
    /// Makes one edit, prints what changed and how to take it back, and repeats the warnings of the database.
    ///
    /// An edit that concerns what clients get shows its impact first; one that newly locks out more than few, or nobody
    /// knows how many, is made only with consent.
    ///
    /// - Parameters:
    ///   - asksAboutRemovals: Whether what is removed or withdrawn needs consent, whatever its impact.
    ///   - body: Changes the rows; it is called again after it was taken back to be looked at.
    ///   - remarks: What to warn of once the edit is made. Where that cannot be found out, nothing is said.
    func edit(
        asksAboutRemovals: Bool = false,
        _ body: @Sendable (PolicyEditor) throws -> Void,
        remarks: (@Sendable (PostgresSession) throws -> [String])? = nil
    ) async throws {
        let author = EditAuthor(osUser: NSUserName(), why: why)
        let warnings = EditWarnings()
        let (report, found) = try await database.withConnection(as: .admin, onNotice: warnings.tell) {
            connection,
            logger in
            let name = try await database.databaseName(connection)
            let edit = EditApproval(
                connection: connection,
                logger: logger,
                database: name,
                yes: yes,
                asksAboutRemovals: asksAboutRemovals
            )
            let report: ChangeReport
            do {
                report = ChangeReport(change: try await edit.make(by: author, body), database: name)
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                throw CommandError.openEdits(try await OpenEdit.all(connection), database: name)
            }
            let found = if let remarks { try? await connection.withSession(remarks) } else { [String]?.none }
            return (report, found ?? [])
        }
        print(report.text)
        for line in found { StandardStreams.printError(line.visible() + "\n") }
    }
}

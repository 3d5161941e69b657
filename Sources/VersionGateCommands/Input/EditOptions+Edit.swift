// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import PolicyStore
import Postgres

extension EditOptions {
    /// Who edits, as the history records it beside the database role.
    var author: EditAuthor { EditAuthor(osUser: NSUserName(), why: why) }

    /// Makes one edit, prints what changed and how to undo it, and prints the warnings of the database.
    ///
    /// An edit that affects what clients get shows its impact first. If it newly locks out more than a few clients, or an
    /// unknown number, it needs approval.
    ///
    /// - Parameters:
    ///   - asksAboutRemovals: Whether removals and withdrawals need approval, whatever their impact.
    ///   - body: Changes the rows; called again after a rollback for the review.
    ///   - remarks: Warnings for after the edit. If they cannot be read, none is printed.
    func edit(
        asksAboutRemovals: Bool = false,
        _ body: @Sendable (PolicyEditor) throws -> Void,
        remarks: (@Sendable (PostgresSession) throws -> [String])? = nil
    ) async throws {
        let author = author
        let warnings = EditWarnings()
        let (report, found) = try await database.withConnection(as: .admin, onNotice: warnings.print) {
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

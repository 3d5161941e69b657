// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyServer
import PolicyStore
import Postgres
import UpdatePolicy

extension EditImpact {
    /// Judges an edit that was tried and taken back by the checks of the last days.
    init(of edit: EditOutcome.HeldBack, before: Policy, _ connection: PostgresConnection) async throws {
        let recent = try await connection.transaction(.repeatableReadReadOnly) { session in
            try CountReader(session).recentChecks(days: RecentDays.usual, bundles: edit.concern.bundles)
        }
        try self.init(from: before, to: edit.after, recent: recent, at: .now())
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import Synchronization

/// Repeats the warnings of the database on standard error, each once although an edit may be tried several times.
final class EditWarnings: Sendable {
    private let told = Mutex<Set<String>>([])

    /// Repeats a notice if it is a warning that was not told yet.
    func tell(_ notice: PostgresNotice) {
        guard notice.isWarning else { return }
        let hint = CommandHint.hint(constraint: notice.constraint, detail: notice.detail) ?? notice.hint
        let line = "Warning: \(notice.message)\(hint.map { " (\($0))" } ?? "")".visible() + "\n"
        guard told.withLock({ $0.insert(line).inserted }) else { return }
        StandardStreams.printError(line)
    }
}

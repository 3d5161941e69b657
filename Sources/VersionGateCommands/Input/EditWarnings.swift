// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import Synchronization

/// Prints the warnings of the database on standard error, each once, even if an edit is tried several times.
final class EditWarnings: Sendable {
    private let printed = Mutex<Set<String>>([])

    /// Prints a notice if it is a warning that was not printed before.
    func print(_ notice: PostgresNotice) {
        guard notice.isWarning else { return }
        let hint = CommandHint.hint(constraint: notice.constraint, detail: notice.detail) ?? notice.hint
        let line = "Warning: \(notice.message)\(hint.map { " (\($0))" } ?? "")".visible() + "\n"
        guard printed.withLock({ $0.insert(line).inserted }) else { return }
        StandardStreams.printError(line)
    }
}

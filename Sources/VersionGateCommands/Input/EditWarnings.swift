// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// Prints the warnings of the database on standard error, each once, even if an edit is tried several times.
final class EditWarnings: Sendable {
    private let printed = Mutex<[String]>([])

    /// What was printed, each warning on a line.
    var lines: [String] { printed.withLock(\.self) }

    /// Prints a notice if it is a warning that was not printed before.
    func print(_ notice: PostgresNotice) {
        guard notice.isWarning else { return }
        let hint = CommandHint(place: .options).cure(PolicyFault(notice), hint: notice.hint)
        let line = "Warning: \(notice.message)\(hint.map { " (\($0))" } ?? "")".visible()
        let isNew = printed.withLock { lines in
            guard !lines.contains(line) else { return false }
            lines.append(line)
            return true
        }
        if isNew { printError(Terminal.standardError.paragraphs(line + "\n")) }
    }
}

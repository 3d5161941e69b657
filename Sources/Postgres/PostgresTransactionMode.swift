// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What a transaction may do and see. It never depends on the session's defaults.
public enum PostgresTransactionMode: Sendable {
    /// Reads and writes; each statement sees what was committed before it (`READ COMMITTED`).
    case readWrite
    /// Reads only; all statements see the same moment.
    case repeatableReadReadOnly

    var beginStatement: String {
        switch self {
        case .readWrite: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .repeatableReadReadOnly: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }
}

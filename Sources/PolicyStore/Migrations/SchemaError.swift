package enum SchemaError: Error, CustomStringConvertible, Hashable {
    case notInstalled
    case older(pending: [String])
    case newer(unknown: [String])
    /// The database says that only binaries that know this migration can read it.
    case unreadable(needs: String)
    case unknownColumns([String])
    case changed(name: String)
    case misplaced(applied: String, expected: String)
    case unrecorded
    case unsafe([SchemaFault])
    case locked(by: String)

    package var description: String {
        switch self {
        case .notInstalled:
            "the database has no schema of versiongate; create it with `\(PrintedCommand("migrate"))`"
        case .older(let pending):
            "the database's schema is older than this binary (\(pending.joined(separator: ", ")) pending); "
                + "bring it up to date with `\(PrintedCommand("migrate"))`"
        case .newer(let unknown):
            "the database's schema is newer than this binary, which does not know "
                + "\(unknown.joined(separator: ", ")); use the newer versiongate that made it"
        case .unreadable(let needs):
            "the database's policy can be read only by a versiongate that knows \(needs); use that newer one"
        case .unknownColumns(let names):
            "this binary does not know the \(names.count == 1 ? "column" : "columns") "
                + "\(names.joined(separator: ", ")), and would leave out what is in there; use the versiongate that made "
                + "the database's schema"
        case .changed(let name):
            "the migration \(name) differs from the one that was applied to this database; a released migration is "
                + "never edited: restore the file and put the change into a new one (for a database that an unreleased "
                + "versiongate made, see CHANGELOG.md: export its policy, and apply it to a new database)"
        case .misplaced(let applied, let expected):
            "the database has applied \(applied) where this binary has \(expected); "
                + "a migration is missing or was renamed: use the versiongate that made this database (if it was an "
                + "unreleased one, see CHANGELOG.md: export its policy, and apply it to a new database)"
        case .unrecorded:
            "the database has tables of versiongate and no record of its migrations, as their files were run by hand; "
                + "make a new database with `\(PrintedCommand("migrate"))`, or with psql and what `\(PrintedCommand("migrate --print"))` "
                + "prints, which keeps the record"
        case .unsafe(let faults):
            faults.map { "\($0.fault)\nHint: \($0.remedy)" }.joined(separator: "\n")
        case .locked(let holder):
            "somebody else holds the lock of the migrations: \(holder); if it does not migrate, end it with "
                + "`SELECT pg_terminate_backend(PROCESS)`, then migrate again"
        }
    }
}

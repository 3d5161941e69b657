import UpdatePolicy

extension Policy {
    /// The values of all rows of each table, in no order.
    var contents: [PolicyTable: [[PolicyValue]: Int]] {
        var contents: [PolicyTable: [[PolicyValue]: Int]] = [:]
        for table in PolicyTable.allCases {
            if table == .releaseNotes { continue }
            for row in rows(of: table) { contents[table, default: [:]][row.values, default: 0] += 1 }
        }
        // The id of a release is the database's own, so notes are told by all that their release is.
        for (release, row) in zip(releases, rows(of: .releases)) {
            for note in release.notes {
                let values = row.values + ReleaseNote.columns.map { $0.value(of: note) }
                contents[.releaseNotes, default: [:]][values, default: 0] += 1
            }
        }
        return contents
    }
}

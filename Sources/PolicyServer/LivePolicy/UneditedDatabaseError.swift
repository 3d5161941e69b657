// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The database is at revision 0, and a policy answers that is not empty.
struct UneditedDatabaseError: Error, CustomStringConvertible {
    /// When the empty policy is taken if the database stays so.
    let isTakenAt: Timestamp

    /// What was found, and what can be done.
    var description: String {
        "nothing was ever edited in this database, which is at revision 0: a dump is being restored, or it is not the"
            + " database that is meant; with the next edit in it, or at \(isTakenAt), its policy is taken"
    }
}

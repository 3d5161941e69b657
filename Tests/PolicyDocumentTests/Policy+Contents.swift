// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension Policy {
    /// The values of all rows of each table, in no order.
    var contents: [PolicyTable: [[PolicyValue]: Int]] {
        var contents: [PolicyTable: [[PolicyValue]: Int]] = [:]
        for table in PolicyTable.allCases {
            for row in rows(of: table) { contents[table, default: [:]][row.values, default: 0] += 1 }
        }
        return contents
    }
}

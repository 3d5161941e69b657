// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
import UpdatePolicy

extension Timestamp {
    /// The same time as PostgreSQL sends it.
    init(_ timestamp: PostgresTimestamp) {
        self.init(microsecondsSince1970: timestamp.microsecondsSince1970)
    }
}

extension PostgresTimestamp {
    /// The same time as the policy knows it.
    init(_ timestamp: Timestamp) {
        self.init(microsecondsSince1970: timestamp.microsecondsSince1970)
    }
}

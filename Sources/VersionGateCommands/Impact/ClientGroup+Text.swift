// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension ClientGroup {
    /// The version for people.
    var versionText: String { version?.text ?? "(unknown)" }

    /// The platform for people.
    var platformText: String { platform ?? "(unknown)" }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// As whom a command logs in to the private PostgreSQL. A database that is named keeps the role of its address.
enum DatabaseRole: String {
    /// Owns the schema; migrates.
    case owner = "versiongate"
    /// Edits the policy.
    case admin = "versiongate_admin"
    /// Reads the policy.
    case server = "versiongate_server"
}

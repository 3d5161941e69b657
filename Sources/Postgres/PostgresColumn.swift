// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A column of a result.
public struct PostgresColumn: Sendable, Hashable {
    /// Its name, as the statement gives it.
    public let name: String
    /// Its type.
    public let type: PostgresType
}

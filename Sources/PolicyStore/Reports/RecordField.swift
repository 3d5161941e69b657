// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A field of a record, as people read it.
public struct RecordField: Sendable, Hashable {
    /// The column.
    public let name: String
    /// Its value as text; nil when there is none.
    public let value: String?

    /// Creates a field.
    public init(name: String, value: String?) {
        self.name = name
        self.value = value
    }
}

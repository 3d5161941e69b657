// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The values of one attribute that a rule accepts.
public struct AttributeCondition: Sendable, Equatable {
    /// The attribute's name; case counts.
    public var name: String

    /// The accepted values, case counts, in the order they were written.
    public var values: [String]

    /// A condition on an attribute.
    public init(name: String, values: [String]) {
        self.name = name
        self.values = values
    }
}

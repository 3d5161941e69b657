// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A column of a policy table that people edit.
public struct PolicyColumn: Sendable {
    /// What a column holds.
    public enum Kind: Sendable {
        /// Text for people, a name, an address, a range of versions.
        case text
        /// A version or a build: text that often looks like a number, and is none.
        case version
        /// A list of texts.
        case texts
        /// True or false.
        case boolean
        /// A whole number of 32 bits.
        case integer
        /// A share of all installs.
        case percentage
        /// A moment.
        case time
        /// A length of time.
        case duration
        /// Names, each with the texts that are accepted for it.
        case attributes
    }

    /// The column's name in SQL.
    public let name: String
    /// What it holds.
    public let kind: Kind
    /// What it holds where nothing is said; nil where something must be said.
    public let defaultValue: PolicyValue?

    private init(_ name: String, _ kind: Kind, default defaultValue: PolicyValue?) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
    }

    static func required(_ name: String, _ kind: Kind = .text) -> PolicyColumn {
        PolicyColumn(name, kind, default: nil)
    }

    static func optional(_ name: String, _ kind: Kind = .text) -> PolicyColumn {
        PolicyColumn(name, kind, default: .null)
    }

    static func flag(_ name: String) -> PolicyColumn {
        PolicyColumn(name, .boolean, default: .boolean(false))
    }

    static let rollout = PolicyColumn("rollout", .percentage, default: .percentage(.all))
    static let position = PolicyColumn("position", .integer, default: .integer(0))
}

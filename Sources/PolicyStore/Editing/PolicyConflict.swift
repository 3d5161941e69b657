// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The policy is not at the revision that an edit was made for.
public struct PolicyConflict: Error, Sendable, CustomStringConvertible {
    /// The revision that the edit was made for.
    public let expected: Int64
    /// The revision that the policy is at.
    public let found: Int64
    /// The change that made the revision that was found, if it can be read.
    public let change: PolicyChange?

    /// An edit that was made for a revision that is no more.
    public init(expected: Int64, found: Int64, change: PolicyChange?) {
        self.expected = expected
        self.found = found
        self.change = change
    }

    /// What the policy is at, and who brought it there.
    public var description: String {
        var text = "the policy is at revision \(found), not at \(expected)"
        guard let change else { return text }
        text += "\nChange \(change.id) by \(change.osUser ?? change.role)"
        if let tool = change.tool { text += " with \(tool)" }
        text += ", \(change.at)"
        if let why = change.why { text += " (\(why))" }
        let rows = change.rows.prefix(3).map { "\($0.table) \($0.key)" }.joined(separator: ", ")
        return text + ": \(rows)\(change.rows.count > 3 ? " and \(change.rows.count - 3) more" : "")"
    }
}

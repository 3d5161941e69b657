// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The value of a member of a check, as the request has it.
public enum MemberValue: Sendable, Hashable {
    /// A string, its escapes resolved.
    case text(UTF8Text)
    /// A number, in the characters it was written with: `1.10` is not 1.1.
    case number(UTF8Text)
    /// `true` or `false`.
    case boolean(Bool)
    /// `null`, which means that the member was not sent.
    case null
    /// An object or an array.
    case composite
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The names that an answer uses.
public enum AnswerShape: Sendable {
    /// The names of the contract.
    case standard

    /// Those of the 2013 original, whose text is called `message`, and whose client cannot read an empty list: no match
    /// is an empty object.
    case legacy
}

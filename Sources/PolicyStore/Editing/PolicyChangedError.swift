// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Says that the policy was changed by somebody else between a look at an edit and the edit.
public struct PolicyChangedError: Error, CustomStringConvertible {
    /// What happened and what to do.
    public let description: String

    /// The policy is not in the state that was looked at.
    init(expected: PolicyVersion, found: PolicyVersion) {
        description =
            "the policy was changed by somebody else meanwhile: it was looked at in revision \(expected.revision), and "
            + "this edit would be \(found.revision); nothing was changed; look again and repeat"
    }

    private init(_ description: String) {
        self.description = description
    }

    /// Others edit all the time.
    static let tooOften = PolicyChangedError(
        "the policy is changed by others faster than this edit can be judged; nothing was changed; repeat it later"
    )
}

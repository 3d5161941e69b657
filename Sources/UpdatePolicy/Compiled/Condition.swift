// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A condition of a rule, in the order in which they are judged.
enum Condition: UInt8 {
    case platforms
    case versions
    case builds
    case os
    case regions
    case languages
    case attributes
    /// The target, for the client is not below it.
    case targetReached
    /// The target, for no release that reaches it is offered.
    case targetNotOffered
    case startsAt
    case endsAt
    case rollout
    case enabled
    case paused
}

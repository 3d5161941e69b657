// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Whether a client that a rule locks out could leave the lockout by an update; with the place of the offer.
enum WayOut {
    /// It could, with the offer.
    case open(Int)
    /// Nothing is offered to it.
    case noOffer
    /// The offer is not above what it has.
    case notAbove(Int)
    /// The rule would match the client with the offer as well.
    case matches(Int)
}

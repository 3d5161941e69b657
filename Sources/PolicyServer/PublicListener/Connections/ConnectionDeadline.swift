// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Until when a connection may stay in its phase, in ticks of its event loop.
struct ConnectionDeadline {
    /// What the connection is waiting for.
    let phase: ConnectionPhase
    /// The tick at which that has taken too long.
    let tick: Int
    /// The place of the phase's beginning among all those of the event loop, later ones being greater.
    let order: Int
}

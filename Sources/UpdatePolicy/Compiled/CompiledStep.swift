// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A planned change of a rollout, as a check compares it.
struct CompiledStep: Sendable {
    let at: Int64
    let rollout: UInt16
}

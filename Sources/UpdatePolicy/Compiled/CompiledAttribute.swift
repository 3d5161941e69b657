// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A condition on an attribute, as a check compares it.
struct CompiledAttribute: Sendable {
    let name: UTF8Text
    let values: [UTF8Text]
}

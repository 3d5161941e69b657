// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A client and the time of its check.
struct Check: Sendable, Equatable {
    var client: ClientDescription
    var time: Timestamp

    /// The check as an object of JSON, for `SpecificationSession`.
    var json: String {
        "{\"client\": \(client.json), \"at\": \(JSONText.quoted(time.description))}"
    }
}

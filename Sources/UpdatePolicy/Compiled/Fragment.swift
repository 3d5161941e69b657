// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Where the prepared bytes of a message lie: all of it up to the link.
///
/// The name of the text's member differs between answer shapes; it is put in where the bytes are split.
struct Fragment: Sendable {
    /// The language, among those of all translations; unused in a rule's own text.
    var language: UInt32
    var start: Int
    var split: Int
    var end: Int
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A reason why the file of the last good policy cannot be used or written.
struct PolicyFileError: Error, Equatable, CustomStringConvertible {
    /// What went wrong and with which file.
    let description: String

    /// Whether nothing is wrong with the file but that a later version wrote it, which can read it.
    var isOfLaterVersion = false

    init(_ path: String, _ reason: String) {
        description = "\(path): \(reason)"
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Something that a command could not do, said so that the user knows what to do next.
struct CommandError: Error, CustomStringConvertible {
    /// The fault and the way on.
    let description: String

    init(_ description: String) {
        self.description = description
    }

    static func noSuchApp(_ bundle: String) -> CommandError {
        CommandError("there is no app \(bundle); `versiongate app list` shows those there are")
    }

    static func noSuchRule(_ key: String) -> CommandError {
        CommandError("there is no rule \(key); `versiongate rule list` shows those there are")
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// The files of this repository.
enum RepositoryFile {
    /// Where a file is, by its path from the root.
    static func url(_ path: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: path)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A release as offers compare it.
struct CompiledRelease: Sendable {
    let version: VersionKey
    /// Where the versions with its numbers begin.
    let family: VersionKey
    let build: VersionKey?
    let minOS: VersionKey?
    /// An empty run is everywhere.
    let regions: PoolRange
    let liveAt: Int64
    let withdrawnAt: Int64
    /// The place among the rows of the app's releases.
    let row: Int

    /// Whether the release is above a client: by its numbers, or by its build where the versions are equal or the
    /// client's cannot be read.
    ///
    /// Pre-releases do not count: an app that calls itself 1.2.0-play may be the very release 1.2.0.
    func isAbove(_ client: borrowing Client) -> Bool {
        if let version = client.versionKey {
            if version < family { return true }
            if version != self.version { return false }
        }
        guard let build, let clientBuild = client.buildKey else { return false }
        return clientBuild < build
    }
}

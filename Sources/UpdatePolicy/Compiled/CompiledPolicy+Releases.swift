// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension CompiledPolicy {
    /// The client's version as the releases of its app on its platform spell it; `nil` where none has that version.
    ///
    /// Every release counts, also one that is staged, withdrawn, or not live yet.
    public func releaseVersion(of client: borrowing Client) -> String? {
        guard let app = app(of: client), let version = client.versionKey else { return nil }
        let platform = platformNumbers.number(of: client.platformText)
        return app.releaseVersions[ReleaseVersion(platform: platform, version: version)]
    }
}

/// A version on a platform.
struct ReleaseVersion: Hashable, Sendable {
    /// The number of the platform.
    let platform: Int32
    /// The version, whatever its spelling.
    let version: VersionKey
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Which rows of a release are meant.
public struct ReleaseSelection: Sendable {
    /// The app.
    public var bundle: String
    /// The version, in any spelling.
    public var version: String
    /// Only this platform; nil for all.
    public var platform: String?
    /// Only this build, in any spelling; nil for all.
    public var build: String?
    /// Only rows for this region; nil for all.
    public var region: String?

    /// Creates a selection.
    public init(bundle: String, version: String, platform: String?, build: String?, region: String?) {
        self.bundle = bundle
        self.version = version
        self.platform = platform
        self.build = build
        self.region = region
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The link that stands for `store` in the messages of an app on one platform.
public struct StoreLink: Sendable, Equatable {
    /// The platform; ASCII case does not count.
    public var platform: String

    /// The link.
    public var link: String

    /// A link for a platform.
    public init(platform: String, link: String) {
        self.platform = platform
        self.link = link
    }
}

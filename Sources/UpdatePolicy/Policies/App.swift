// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// An app, known by its bundle.
public struct App: Sendable, Equatable {
    /// The bundle or package identifier; ASCII case does not count.
    public var bundle: String

    /// What people call the app; it stands for `{app}` in texts. `nil`: the bundle does.
    public var name: String?

    /// Whether checks of the app are answered without any message.
    public var paused: Bool

    /// Where the app can be had, at most once for each platform.
    public var storeLinks: [StoreLink]

    /// An app with these columns.
    public init(bundle: String, name: String? = nil, paused: Bool = false, storeLinks: [StoreLink] = []) {
        self.bundle = bundle
        self.name = name
        self.paused = paused
        self.storeLinks = storeLinks
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Where a listener binds.
public struct ListenAddress: Sendable, Hashable {
    /// A host name or an IP address.
    public var host: String
    /// A TCP port; 0 lets the system pick one.
    public var port: Int

    /// Creates an address.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

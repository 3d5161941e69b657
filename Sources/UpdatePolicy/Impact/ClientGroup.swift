// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The clients of one app, version and platform: a row of an impact.
public struct ClientGroup: Sendable, Hashable {
    /// The bundle in lower case.
    public let bundle: String

    /// The platform; nil where clients sent none.
    public let platform: String?

    /// The version that could be read; nil for all others. Two spellings of one version are one.
    public let version: AppVersion?

    /// The group that a client belongs to.
    public init(_ client: Client) {
        bundle = ASCII.lowercased(client.bundle?.string ?? "")
        platform = client.platform?.name
        version = client.version
    }
}

extension ClientGroup: Comparable {
    /// Groups are in order of bundle and platform, then the greatest version first; what was not sent comes last.
    public static func < (left: ClientGroup, right: ClientGroup) -> Bool {
        if left.bundle != right.bundle { return left.bundle < right.bundle }
        if left.platform != right.platform {
            guard let platform = left.platform, let other = right.platform else { return left.platform != nil }
            return platform < other
        }
        guard let version = left.version, let other = right.version else {
            return left.version != nil && right.version == nil
        }
        return other < version
    }
}

/// Clients of one kind, as far as checks are counted by kind, and how many checks they made.
public struct WeightedClient: Sendable {
    /// The members they sent, without language, attributes and install, which are not counted.
    public let client: Client

    /// Their number of checks; not negative.
    public let checks: Int64

    /// Clients of one kind with their checks.
    public init(_ client: Client, checks: Int64) {
        self.client = client
        self.checks = checks
    }
}

/// The clients of one app, version and platform: a row of an impact.
package struct ClientGroup: Sendable, Hashable {
    package let bundle: String
    package let platform: String?

    /// The version that could be read; nil for all others. Two spellings of one version are one.
    package let version: AppVersion?

    package init(_ client: Client) {
        bundle = ASCII.lowercased(client.bundle?.string ?? "")
        platform = client.platform?.name
        version = client.version
    }
}

extension ClientGroup: Comparable {
    /// Groups are in order of bundle and platform, then the greatest version first; what was not sent comes last.
    package static func < (left: ClientGroup, right: ClientGroup) -> Bool {
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
package struct WeightedClient: Sendable {
    /// The members they sent, without language, attributes and install, which are not counted.
    package let client: Client
    package let checks: Int64

    package init(_ client: Client, checks: Int64) {
        (self.client, self.checks) = (client, checks)
    }

    package var counted: (version: String?, checks: Int64) { (client.versionText?.string, checks) }
}

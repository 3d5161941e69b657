// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener

/// The limits and the TLS of the listener.
public struct PublicListenerConfiguration: Sendable, Hashable {
    /// The limits of connections and requests.
    var limits = ConnectionLimits()
    /// How often an address may ask; nil for no limit.
    var rateLimit: RateLimit?
    /// Proxies whose `X-Forwarded-For` names the client for the rate limit; limits per address do not apply to them.
    var trustedProxies = TrustedProxies()
    /// The certificate and key of the listener; nil for plain HTTP.
    var tls: TLSFiles?

    /// How many connections there may be, as ``limits`` has it.
    public var maximumConnections: Int {
        get { limits.connections }
        set { limits.connections = newValue }
    }

    /// Creates the default: the default limits, no rate limit, no trusted proxies, no TLS.
    init() {}
}

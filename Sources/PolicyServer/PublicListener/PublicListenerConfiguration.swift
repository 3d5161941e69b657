// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import CheckListener

/// What the public listener lets clients do, and how it speaks with them.
public struct PublicListenerConfiguration: Sendable, Hashable {
    /// What connections may take.
    public var limits = ConnectionLimits()
    /// How often an address may ask; nil for no limit.
    public var rateLimit: RateLimit?
    /// Whose `X-Forwarded-For` says who a client is, for the rate limit; limits per address do not hold for them.
    public var trustedProxies = TrustedProxies()
    /// The certificate and key of the listener; nil for plain HTTP.
    public var tls: TLSFiles?

    /// How many connections there may be, as ``limits`` has it.
    public var maximumConnections: Int {
        get { limits.connections }
        set { limits.connections = newValue }
    }

    /// Creates the default: the default limits, no rate limit, no trusted proxies, no TLS.
    public init() {}
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import CheckListener
public import Configuration

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

    /// Reads the configuration. Times are in seconds and may have decimals; sizes are in bytes.
    ///
    /// | key | environment | default | range |
    /// | --- | --- | --- | --- |
    /// | `versiongate.maxConnections` | `VERSIONGATE_MAX_CONNECTIONS` | 16384 | 1 to 1000000 |
    /// | `versiongate.maxConnectionsPerAddress` | `VERSIONGATE_MAX_CONNECTIONS_PER_ADDRESS` | an eighth of them, at least 64 | 0 to 1000000; 0: no limit |
    /// | `versiongate.maxRequestsPerConnection` | `VERSIONGATE_MAX_REQUESTS_PER_CONNECTION` | 100000 | 1 to 1000000000 |
    /// | `versiongate.maxRequestLineBytes` | `VERSIONGATE_MAX_REQUEST_LINE_BYTES` | 12288 | 256 to 65536 |
    /// | `versiongate.maxHeaderBytes` | `VERSIONGATE_MAX_HEADER_BYTES` | 16384 | 1024 to 1048576 |
    /// | `versiongate.maxHeaderFields` | `VERSIONGATE_MAX_HEADER_FIELDS` | 100 | 10 to 1000 |
    /// | `versiongate.maxBufferedBytes` | `VERSIONGATE_MAX_BUFFERED_BYTES` | 65536 | 4096 to 16777216 |
    /// | `versiongate.headerTimeout` | `VERSIONGATE_HEADER_TIMEOUT` | 10 | 0.1 to 3600 |
    /// | `versiongate.bodyTimeout` | `VERSIONGATE_BODY_TIMEOUT` | 10 | 0.1 to 3600 |
    /// | `versiongate.idleTimeout` | `VERSIONGATE_IDLE_TIMEOUT` | 75 | 0.1 to 3600 |
    /// | `versiongate.unreadTimeout` | `VERSIONGATE_UNREAD_TIMEOUT` | 10 | 0.1 to 3600 |
    /// | `versiongate.rateLimit` | `VERSIONGATE_RATE_LIMIT` | none | see ``RateLimit/init(parsing:)`` |
    /// | `versiongate.trustedProxies` | `VERSIONGATE_TRUSTED_PROXIES` | none | see ``TrustedProxies/init(parsing:)`` |
    /// | `versiongate.tlsCertificate` | `VERSIONGATE_TLS_CERTIFICATE` | none | see ``TLSFiles`` |
    /// | `versiongate.tlsKey` | `VERSIONGATE_TLS_KEY` | none | see ``TLSFiles`` |
    ///
    /// - Throws: ``ConfigurationError`` that names the setting, its value and what it may be; also when the files of TLS
    ///   cannot be used.
    public init(_ config: ConfigReader) throws(ConfigurationError) {
        limits = try ConnectionLimits(config)
        let settings = SettingReader(config)
        if let rate = settings.text("rateLimit") {
            do throws(LimitSyntaxError) {
                rateLimit = try RateLimit(parsing: rate)
            } catch {
                throw ConfigurationError("--rate-limit (VERSIONGATE_RATE_LIMIT): \(error)")
            }
        }
        if let proxies = settings.text("trustedProxies") {
            do throws(LimitSyntaxError) {
                trustedProxies = try TrustedProxies(parsing: proxies)
            } catch {
                throw ConfigurationError("--trusted-proxies (VERSIONGATE_TRUSTED_PROXIES): \(error)")
            }
        }
        switch (settings.text("tlsCertificate"), settings.text("tlsKey")) {
        case (nil, nil):
            break
        case (let certificate?, let key?):
            let files = TLSFiles(certificate: certificate, key: key)
            _ = try files.load()
            tls = files
        case (_?, nil):
            throw ConfigurationError(
                "--tls-certificate is given without --tls-key (VERSIONGATE_TLS_KEY); TLS needs both"
            )
        case (nil, _?):
            throw ConfigurationError(
                "--tls-key is given without --tls-certificate (VERSIONGATE_TLS_CERTIFICATE); TLS needs both"
            )
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import Configuration

extension ConnectionLimits {
    /// Reads the limits; ``PublicListenerConfiguration/init(_:)`` documents keys, units, ranges and defaults.
    init(_ config: ConfigReader) throws(ConfigurationError) {
        self.init()
        let settings = SettingReader(config)
        connections = try settings.number("maxConnections", in: 1...1_000_000) ?? connections
        connectionsPerAddress = try settings.number("maxConnectionsPerAddress", in: 0...1_000_000)
        requestsPerConnection =
            try settings.number("maxRequestsPerConnection", in: 1...1_000_000_000) ?? requestsPerConnection
        requestLineBytes = try settings.number("maxRequestLineBytes", in: 256...65_536) ?? requestLineBytes
        headerBytes = try settings.number("maxHeaderBytes", in: 1_024...1_048_576) ?? headerBytes
        headerFields = try settings.number("maxHeaderFields", in: 10...1_000) ?? headerFields
        bufferedBytes = try settings.number("maxBufferedBytes", in: 4_096...16_777_216) ?? bufferedBytes
        headerTimeout = try settings.seconds("headerTimeout", in: 0.1...3_600) ?? headerTimeout
        bodyTimeout = try settings.seconds("bodyTimeout", in: 0.1...3_600) ?? bodyTimeout
        idleTimeout = try settings.seconds("idleTimeout", in: 0.1...3_600) ?? idleTimeout
        unreadTimeout = try settings.seconds("unreadTimeout", in: 0.1...3_600) ?? unreadTimeout
    }
}

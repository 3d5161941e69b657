// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Configuration
import Foundation
public import Systemd

/// What `serve` is configured with.
public struct ServerConfiguration: Sendable {
    /// Where apps call.
    public var publicAddress = ListenAddress(host: "0.0.0.0", port: 8_080)
    /// What the public listener lets clients do.
    public var publicListener = PublicListenerConfiguration()
    /// Where whoever operates the server asks.
    public var managementAddress = ListenAddress(host: "127.0.0.1", port: 9_090)
    /// The names that the management listener may be asked by, besides IP addresses and `localhost`.
    public var managementNames: [String] = []
    /// The socket that apps call, if it was opened already; then ``publicAddress`` does not count.
    public var publicSocket: InheritedSocket?
    /// How long a shutdown goes on as before, but for `/ready`, so that load balancers notice.
    public var drainDuration: Duration = .zero
    /// The folder where the last good policy is kept; nil: it is not kept.
    public var stateDirectory: String?
    /// How checks are counted.
    public var counting = CountingConfiguration()

    /// Creates the default configuration.
    public init() {}

    /// Reads every setting of ``Setting/all``; one that is not set, or empty, keeps its default.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting, its value and what it may be; also when the files of TLS
    ///   cannot be used.
    public init(_ config: ConfigReader) throws(ConfigurationError) {
        for setting in Setting.all { try setting.read(config, into: &self) }
        guard let tls = publicListener.tls else { return }
        guard !tls.key.isEmpty else {
            throw ConfigurationError(
                "--tls-certificate is given without --tls-key (VERSIONGATE_TLS_KEY); TLS needs both"
            )
        }
        guard !tls.certificate.isEmpty else {
            throw ConfigurationError(
                "--tls-key is given without --tls-certificate (VERSIONGATE_TLS_CERTIFICATE); TLS needs both"
            )
        }
        _ = try tls.load()
    }

    /// Whether an earlier run left a policy that a start without a database can answer from.
    public var hasLastGoodPolicy: Bool {
        stateDirectory.map { FileManager.default.fileExists(atPath: LastGoodPolicyFile(stateDirectory: $0).path) }
            ?? false
    }
}

/// A setting has a value that cannot be used.
public struct ConfigurationError: Error, CustomStringConvertible {
    /// The setting, its value, and what it may be.
    public let description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Configuration
import Foundation
public import Logging
public import Systemd

/// The configuration of `serve`.
public struct ServerConfiguration: Sendable {
    /// Where apps connect.
    var publicAddress = ListenAddress(host: "0.0.0.0", port: 8_080)
    /// The limits and the TLS of the public listener.
    public var publicListener = PublicListenerConfiguration()
    /// Where operators connect.
    var managementAddress = ListenAddress(host: "127.0.0.1", port: 9_090)
    /// The host names that the management listener accepts, besides IP addresses and `localhost`.
    var managementNames: [String] = []
    /// The password of the pages for people; nil: they are served on a loopback address alone.
    var pagesPassword: String?
    /// An open socket that apps connect to; used instead of ``publicAddress``.
    public var publicSocket: InheritedSocket?
    /// How long `/ready` answers 503 before a shutdown begins, so that load balancers notice.
    var drainDuration: Duration = .zero
    /// The folder where the last good policy is kept; nil: it is not kept.
    public var stateDirectory: String?
    /// How checks are counted.
    var counting = CountingConfiguration()
    /// How log messages are written.
    public var logFormat = LogFormat.text
    /// The least severe messages that are logged.
    public var logLevel = Logger.Level.notice

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

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Configuration
import Foundation
public import ServiceManager

/// What `serve` is configured with.
public struct ServerConfiguration: Sendable {
    /// Where apps call.
    public var publicAddress: ListenAddress
    /// What the public listener lets clients do.
    public var publicListener = PublicListenerConfiguration()
    /// Where whoever operates the server asks.
    public var managementAddress: ListenAddress
    /// The names that the management listener may be asked by, besides IP addresses and `localhost`.
    public var managementNames: [String] = []
    /// The socket that apps call, if it was opened already; then ``publicAddress`` does not count.
    public var publicSocket: InheritedSocket?
    /// How long a shutdown goes on as before, but for `/ready`, so that load balancers notice.
    public var drainDuration: Duration = .zero
    /// The folder where the last good policy is kept; nil: it is not kept.
    public var stateDirectory: String?
    /// How checks are counted.
    public var counting: CountingConfiguration

    /// Creates a configuration.
    public init(
        publicAddress: ListenAddress,
        managementAddress: ListenAddress,
        counting: CountingConfiguration = CountingConfiguration()
    ) {
        self.publicAddress = publicAddress
        self.managementAddress = managementAddress
        self.counting = counting
    }

    /// Reads the configuration.
    ///
    /// | key | environment | default | meaning |
    /// | --- | --- | --- | --- |
    /// | `versiongate.host` | `VERSIONGATE_HOST` | `0.0.0.0` | host name or address of the public listener |
    /// | `versiongate.port` | `VERSIONGATE_PORT` | `8080` | its TCP port, 0 to 65535; 0 lets the system pick one |
    /// | `versiongate.managementHost` | `VERSIONGATE_MANAGEMENT_HOST` | `127.0.0.1` | the same for the management listener |
    /// | `versiongate.managementPort` | `VERSIONGATE_MANAGEMENT_PORT` | `9090` | its TCP port |
    /// | `versiongate.managementNames` | `VERSIONGATE_MANAGEMENT_NAMES` | none | host names, separated by commas, that the management listener may be asked by |
    /// | `versiongate.countInterval` | `VERSIONGATE_COUNT_INTERVAL` | `10` | seconds between two writes of counts, 0 to 3600; 0: checks are not counted |
    /// | `versiongate.countKeys` | `VERSIONGATE_COUNT_KEYS` | `50000` | kinds of clients that are kept apart in an hour, besides those of the last days, 0 to 10000000; of the rest, the version is counted where it is that of a release |
    /// | `versiongate.countDays` | `VERSIONGATE_COUNT_DAYS` | `400` | days that counts are kept, 1 to 36500 |
    /// | `versiongate.drainSeconds` | `VERSIONGATE_DRAIN_SECONDS` | `0` | how long `/ready` says 503 before the public listener closes, 0 to 3600 |
    ///
    /// ``PublicListenerConfiguration/init(_:)`` documents the limits of the public listener and its TLS.
    ///
    /// - Throws: ``ConfigurationError`` that names the key and the value.
    public init(_ config: ConfigReader) throws(ConfigurationError) {
        publicAddress = ListenAddress(
            host: config.string(forKey: "versiongate.host", default: "0.0.0.0"),
            port: try Self.port(config, "versiongate.port", named: "--port (VERSIONGATE_PORT)", default: 8080)
        )
        managementAddress = ListenAddress(
            host: config.string(forKey: "versiongate.managementHost", default: "127.0.0.1"),
            port: try Self.port(
                config,
                "versiongate.managementPort",
                named: "--management-port (VERSIONGATE_MANAGEMENT_PORT)",
                default: 9090
            )
        )
        managementNames = try Self.managementNames(config)
        publicListener = try PublicListenerConfiguration(config)
        counting = try CountingConfiguration(config)
        drainDuration = try Self.drainDuration(config)
    }

    /// Whether an earlier run left a policy that a start without a database can answer from.
    public var hasLastGoodPolicy: Bool {
        stateDirectory.map { FileManager.default.fileExists(atPath: LastGoodPolicyFile(stateDirectory: $0).path) }
            ?? false
    }

    private static func managementNames(_ config: ConfigReader) throws(ConfigurationError) -> [String] {
        var names: [String] = []
        let text = config.string(forKey: "versiongate.managementNames") ?? ""
        for part in text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = part.drop(while: \.isWhitespace)
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isOfHostName) else {
                throw ConfigurationError(
                    "--management-names (VERSIONGATE_MANAGEMENT_NAMES) is \"\(text)\"; it must be host names without "
                        + "ports, separated by commas"
                )
            }
            names.append(String(name))
        }
        return names
    }

    private static func isOfHostName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func drainDuration(_ config: ConfigReader) throws(ConfigurationError) -> Duration {
        guard let text = config.string(forKey: "versiongate.drainSeconds") else { return .zero }
        guard let seconds = Double(text), (0...3_600).contains(seconds) else {
            throw ConfigurationError(
                "--drain-seconds (VERSIONGATE_DRAIN_SECONDS) is \"\(text)\"; it must be a number from 0 to 3600"
            )
        }
        return .seconds(seconds)
    }

    private static func port(
        _ config: ConfigReader,
        _ key: ConfigKey,
        named name: String,
        default defaultPort: Int
    ) throws(ConfigurationError) -> Int {
        guard let text = config.string(forKey: key) else { return defaultPort }
        guard let port = Int(text), (0...65_535).contains(port) else {
            throw ConfigurationError("\(name) is \"\(text)\"; it must be a whole number from 0 to 65535")
        }
        return port
    }
}

import CheckListener
import Foundation
package import Logging
package import Systemd

package struct ServerConfiguration: Sendable {
    /// The address for apps.
    var publicAddress = ListenAddress(host: "0.0.0.0", port: 8_080)
    /// The limits of connections to the public listener and of their requests.
    var limits = ConnectionLimits()
    /// The limit on what an address may ask; nil for no limit.
    var rateLimit: RateLimit?
    /// Proxies whose `X-Forwarded-For` names the client for the rate limit; limits per address do not apply to them.
    var trustedProxies = TrustedProxies()
    /// The other origins whose pages may read the answers to checks and gates; nil: none.
    var allowedOrigins: AllowedOrigins?
    /// The certificate and key of the public listener; none for plain HTTP.
    var tls = TLSFiles()
    /// The address for operators.
    var managementAddress = ListenAddress(host: "127.0.0.1", port: 9_090)
    /// The host names that the management listener accepts, besides IP addresses and `localhost`.
    var managementNames: [String] = []
    /// The password of the pages for people; nil: they are served on a loopback address alone.
    var pagesPassword: String?
    /// An open socket that apps connect to; used instead of ``publicAddress``.
    package var publicSocket: InheritedSocket?
    /// The time for which `/ready` answers 503 before a shutdown begins, so that load balancers notice.
    var drainDuration: Duration = .zero
    /// The folder where the last good policy is kept; nil: it is not kept.
    package var stateDirectory: String?
    /// The path of the brake; nil: it is in the folder of the state.
    var brakeFile: String?
    /// Whether tokens may record releases; else there is nothing at their path.
    var takesReleases = false
    /// The file of the key that signs lockouts; nil: they are not signed.
    var lockoutKey: LockoutKeyFile?
    /// The interval at which counts of checks are written to the database; nil: checks are not counted.
    var countInterval: Duration? = .seconds(10)
    /// The most kinds of clients that are counted separately in an hour, on all cores together; not negative.
    var maximumKinds = 50_000
    /// The days for which counts are kept in the database, the current one not counted; at least 1.
    var daysKept = 400
    /// The form of log messages.
    package var logFormat = LogFormat.text
    /// The least severe messages that are logged.
    package var logLevel = Logger.Level.notice

    package init() {}

    /// Reads every setting of ``Setting/all``; one that is not set, or empty, keeps its default.
    ///
    /// - Parameter value: The value of a setting as it was written; nil where it is not set.
    /// - Throws: ``ConfigurationError`` that names the setting, its value and what it may be; also when the files of TLS
    ///   cannot be used.
    package init(_ value: (Setting) -> String?) throws(ConfigurationError) {
        for setting in Setting.all { try setting.read(value(setting), into: &self) }
        guard tls != TLSFiles() else { return }
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

    package var maximumConnections: Int {
        get { limits.connections }
        set { limits.connections = newValue }
    }

    /// Sets a password for the pages where they would be refused without one.
    ///
    /// - Returns: The password; nil where none is needed, or one is set.
    package mutating func makePagesPassword(_ make: () -> String) -> String? {
        guard PageAccess(password: pagesPassword, host: managementAddress.host).isRefused else { return nil }
        pagesPassword = make()
        return pagesPassword
    }

    /// The brake; nil where neither a path nor a folder is known.
    var brake: BrakeFile? {
        brakeFile.map { BrakeFile(path: $0) } ?? stateDirectory.map { BrakeFile(stateDirectory: $0) }
    }

    /// Whether an earlier run left a policy that a start without a database can answer from.
    package var hasLastGoodPolicy: Bool {
        stateDirectory.map { FileManager.default.fileExists(atPath: LastGoodPolicyFile(stateDirectory: $0).path) }
            ?? false
    }
}

/// A setting has a value that cannot be used.
package struct ConfigurationError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Reads a small file that a setting names; without the setting, what is wrong is to stand behind its names.
    static func reading(_ file: String, _ setting: String = "") throws(ConfigurationError) -> [UInt8] {
        let limit = 1 << 20
        do {
            let bytes = try WholeFile.read(file, upTo: limit + 1, mustBeRegular: false).bytes
            guard bytes.count <= limit else { throw ConfigurationError("it has more than \(limit) bytes") }
            return bytes
        } catch {
            throw ConfigurationError("\(setting): \(file) cannot be read: \(error)")
        }
    }
}

/// The form of log messages: one line each.
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people: the time (UTC), the level, the message, and its metadata as `key=value`.
    case text
    /// For programs that collect logs: an object with `time`, `level`, `message` and `metadata`.
    case json
}

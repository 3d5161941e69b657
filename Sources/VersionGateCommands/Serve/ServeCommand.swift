// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Configuration
import Foundation
import Logging
import PolicyServer
import PolicyStore
import ServiceManager

/// `versiongate serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer the checks of apps.",
        discussion: """
            Prints one line with both addresses when it is ready. Edits of the policy are live within a second. When
            the database goes away, the policy in memory keeps answering.

            Answered checks are counted by hour, app, platform, version, build, country and system, and the messages by
            rule. Nothing that tells one installation from another is kept.

            The schema of the private PostgreSQL is brought up to date by itself; that of any other database only with
            --migrate.

            Examples:
              versiongate serve
              versiongate serve --port 8081 --management-port 9091
              DATABASE_URL=postgresql://versiongate_server@db.example.com/versiongate versiongate serve
            """
    )

    @Option(
        help: ArgumentHelp("Where apps call. (environment: VERSIONGATE_HOST; default: 0.0.0.0)", valueName: "address")
    )
    var host: String?

    @Option(
        help: ArgumentHelp(
            "The port apps call; 0 picks one. (environment: VERSIONGATE_PORT; default: 8080)",
            valueName: "port"
        )
    )
    var port: String?

    @Option(
        help: ArgumentHelp(
            "Where the management listener is; it has no authentication. "
                + "(environment: VERSIONGATE_MANAGEMENT_HOST; default: 127.0.0.1)",
            valueName: "address"
        )
    )
    var managementHost: String?

    @Option(
        help: ArgumentHelp(
            "Its port; 0 picks one. (environment: VERSIONGATE_MANAGEMENT_PORT; default: 9090)",
            valueName: "port"
        )
    )
    var managementPort: String?

    @Option(
        help: ArgumentHelp(
            "Host names that it may be asked by, besides IP addresses and localhost, separated by commas. "
                + "(environment: VERSIONGATE_MANAGEMENT_NAMES; default: none)",
            valueName: "names"
        )
    )
    var managementNames: String?

    @Option(
        help: ArgumentHelp(
            "Seconds between two writes of the counts of checks; 0 counts none. "
                + "(environment: VERSIONGATE_COUNT_INTERVAL; default: 10)",
            valueName: "seconds"
        )
    )
    var countInterval: String?

    @Option(
        help: ArgumentHelp(
            "How many kinds of clients are kept apart in an hour; the rest is counted together. "
                + "(environment: VERSIONGATE_COUNT_KEYS; default: 50000)",
            valueName: "number"
        )
    )
    var countKeys: String?

    @Option(
        help: ArgumentHelp(
            "How many days counts are kept. (environment: VERSIONGATE_COUNT_DAYS; default: 400)",
            valueName: "days"
        )
    )
    var countDays: String?

    @Option(
        help: ArgumentHelp(
            "How often an address may ask, and how many at once. (environment: VERSIONGATE_RATE_LIMIT; default: no limit)",
            valueName: "per-second[:burst]"
        )
    )
    var rateLimit: String?

    @Option(
        help: ArgumentHelp(
            "Proxies whose X-Forwarded-For says who asks, such as 10.0.0.0/8,::1. "
                + "(environment: VERSIONGATE_TRUSTED_PROXIES; default: none)",
            valueName: "ranges"
        )
    )
    var trustedProxies: String?

    @Option(
        help: ArgumentHelp(
            "How many connections apps may have. (environment: VERSIONGATE_MAX_CONNECTIONS; default: 16384)",
            valueName: "count"
        )
    )
    var maxConnections: String?

    @Option(
        help: ArgumentHelp(
            "How many of them may be from one address; 0 is no limit. "
                + "(environment: VERSIONGATE_MAX_CONNECTIONS_PER_ADDRESS; default: an eighth of them, at least 64)",
            valueName: "count"
        )
    )
    var maxConnectionsPerAddress: String?

    @Option(
        help: ArgumentHelp(
            "Serve apps over TLS with this certificate and its chain, in PEM; read again on SIGHUP. "
                + "(environment: VERSIONGATE_TLS_CERTIFICATE)",
            valueName: "file"
        )
    )
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp("Its private key, in PEM. (environment: VERSIONGATE_TLS_KEY)", valueName: "file")
    )
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "How long /ready says 503 before a shutdown begins, for load balancers to notice. "
                + "(environment: VERSIONGATE_DRAIN_SECONDS; default: 0)",
            valueName: "seconds"
        )
    )
    var drainSeconds: String?

    @Flag(help: "Bring the schema of the database up to date first.")
    var migrate = false

    @OptionGroup(title: "Logs") var logs: LogOptions

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        var configuration: ServerConfiguration
        do throws(ConfigurationError) {
            configuration = try ServerConfiguration(config)
        } catch {
            throw ValidationError("\(error)")
        }
        let serviceManager: ServiceManager?
        do throws(ServiceManagerError) {
            let process = ProcessInfo.processInfo
            serviceManager = try ServiceManager(
                environment: process.environment,
                processID: process.processIdentifier
            )
            configuration.publicSocket = try InheritedSocket(
                environment: process.environment,
                processID: process.processIdentifier
            )
        } catch {
            throw ValidationError("\(error)")
        }
        configuration.stateDirectory = try? database.stateDirectory()
        let source = try database.source()
        let output = try logs.output()
        // Loggers that a library makes for itself must not write to standard output by themselves.
        LoggingSystem.bootstrap { _ in output.handler }
        do {
            try await serve(configuration, serviceManager, source, output)
        } catch {
            output.printError(error)
            output.flush()
            throw ExitCode.failure
        }
        output.flush()
    }

    private func serve(
        _ configuration: ServerConfiguration,
        _ serviceManager: ServiceManager?,
        _ source: DatabaseSource,
        _ output: ServerOutput
    ) async throws {
        var configuration = configuration
        let logger = output.logger
        fitConnections(of: &configuration, to: OpenFileLimit.raise(), logger: logger)
        let preparation = DatabasePreparation(source: source, migrates: migrate || source.isPrivate, logger: logger)
        do {
            try await preparation.startPrivateDatabase()
        } catch  where configuration.hasLastGoodPolicy {
            logger.error("The private PostgreSQL cannot be started", metadata: ["error": "\(error)"])
        }
        let server = VersionGateServer(
            configuration: configuration,
            database: { try await preparation.configuration() },
            serviceManager: serviceManager,
            log: output.log,
            logger: logger
        )
        try await server.run { addresses in
            output.printResult(
                "versiongate is ready: public \(addresses.publicURL) management \(addresses.managementURL)"
            )
        }
        try await preparation.finish()
    }

    /// Allows no more connections than there can be, so that the database and files are never without a descriptor.
    private func fitConnections(of configuration: inout ServerConfiguration, to openFiles: Int, logger: Logger) {
        let possible = max(1, openFiles - OpenFileLimit.reserve)
        guard configuration.publicListener.maximumConnections > possible else { return }
        logger.notice(
            "Fewer connections are possible than configured",
            metadata: [
                "connections.configured": "\(configuration.publicListener.maximumConnections)",
                "connections.possible": "\(possible)", "files.limit": "\(openFiles)",
            ]
        )
        configuration.publicListener.maximumConnections = possible
    }

    /// Arguments first, then the environment.
    private var config: ConfigReader {
        var arguments: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, value) in [
            ("versiongate.host", host), ("versiongate.port", port), ("versiongate.managementHost", managementHost),
            ("versiongate.managementPort", managementPort), ("versiongate.managementNames", managementNames),
            ("versiongate.countInterval", countInterval),
            ("versiongate.countKeys", countKeys), ("versiongate.countDays", countDays),
            ("versiongate.rateLimit", rateLimit),
            ("versiongate.trustedProxies", trustedProxies), ("versiongate.maxConnections", maxConnections),
            ("versiongate.maxConnectionsPerAddress", maxConnectionsPerAddress),
            ("versiongate.tlsCertificate", tlsCertificate), ("versiongate.tlsKey", tlsKey),
            ("versiongate.drainSeconds", drainSeconds),
        ] {
            if let value { arguments[AbsoluteConfigKey(ConfigKey(key))] = ConfigValue(.string(value), isSecret: false) }
        }
        return ConfigReader(providers: [InMemoryProvider(values: arguments), EnvironmentVariablesProvider()])
    }
}

import ArgumentParser
import Foundation
import Logging
import PolicyServer
import PolicyStore
import Systemd

struct ServeCommand: AsyncParsableCommand {
    static let configuration = command(
        "serve", "Answer the checks of apps.",
        "versiongate serve", "versiongate serve --example", "versiongate serve --port 8081 --management-port 9091",
        "versiongate serve --database-url postgresql://versiongate_server@db.internal/versiongate",
        discussion: """
            Prints one line with both addresses when it is ready. Edits of the policy are live within a second. If the \
            database is lost, the policy in memory keeps answering.

            Answered checks are counted by hour, app, platform, version, build, country and system, and messages by \
            rule. Nothing that identifies an installation is kept.
            """
    )

    @OptionGroup var settings: SettingOptions
    @Flag(help: "Bring the schema up to date first, as is always done with that of the private PostgreSQL.")
    var migrate = false
    @Flag(help: "Give the private PostgreSQL an app and a rule, if its policy is empty, and print a check to try.")
    var example = false
    @OptionGroup var database: DatabaseOptions

    func validate() throws { _ = try configuration() }

    private func configuration() throws -> ServerConfiguration {
        do throws(ConfigurationError) {
            return try ServerConfiguration(settings.value)
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        // Until the server traps it: a reload never ends a server, however early it comes.
        signal(SIGHUP, SIG_IGN)
        var configuration = try configuration()
        let serviceManager: SystemdNotifier?
        do throws(SystemdError) {
            let (environment, id) = (ProcessInfo.processInfo.environment, ProcessInfo.processInfo.processIdentifier)
            serviceManager = try SystemdNotifier(environment: environment, processID: id)
            configuration.publicSocket = try InheritedSocket(environment: environment, processID: id)
        } catch {
            throw ValidationError("\(error)")
        }
        configuration.stateDirectory = try? database.stateDirectory()
        let source = try database.source()
        guard !example || source.isPrivate else {
            throw ValidationError(
                "--example is for the private PostgreSQL, and another database is named; add --private."
            )
        }
        let output = ServerOutput(configuration.logFormat, level: configuration.logLevel)
        // Loggers that a library makes for itself must not write to standard output by themselves.
        LoggingSystem.bootstrap { _ in output.handler }
        defer { output.finish() }
        do {
            try await serve(configuration, serviceManager, source, output)
        } catch {
            output.printError(error)
            throw ExitCode.failure
        }
    }

    private func serve(
        _ configuration: ServerConfiguration,
        _ serviceManager: SystemdNotifier?,
        _ source: DatabaseSource,
        _ output: ServerOutput
    ) async throws {
        var configuration = configuration
        let logger = output.logger
        fitConnections(of: &configuration, logger)
        let preparation = DatabasePreparation(source: source, migrates: migrate || source.isPrivate, logger: logger)
        var hasExample = false
        do {
            try await preparation.start()
            if example { hasExample = try await preparation.addExample() }
        } catch  where configuration.hasLastGoodPolicy {
            logger.error("The private PostgreSQL cannot be started", metadata: ["error": "\(error)"])
        }
        let pagesPassword = example ? configuration.makePagesPassword(NewPassword.random) : nil
        let server = VersionGateServer(
            configuration: configuration, database: { try await preparation.configuration() },
            pagesDatabase: { try await preparation.configuration(as: .viewer) }, clock: { .now() },
            serviceManager: serviceManager, log: output.log, logger: logger
        )
        try await server.run { [example, hasExample] addresses in
            output.printResult(
                "versiongate is ready: public \(addresses.publicURL) management \(addresses.managementURL)"
            )
            guard example else { return }
            ExamplePolicy.lines(
                publicURL: addresses.publicURL, managementURL: addresses.managementURL, isThere: hasExample,
                password: pagesPassword
            ).forEach(output.printResult)
        }
        try await preparation.finish()
    }

    /// Raises the limit of open files as far as the process may, and allows no more connections than there can be beside the
    /// database, files, the management listener and the event loops.
    ///
    /// There must always be some left: libdispatch ends a process that has work to do and cannot open a file.
    private func fitConnections(of configuration: inout ServerConfiguration, _ logger: Logger) {
        let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else { return }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        if setrlimit(openFiles, &raised) == 0 { limit = raised }
        let possible = max(1, Int(clamping: limit.rlim_cur) - 128 - 4 * AvailableProcessors.count)
        let configured = configuration.maximumConnections
        guard configured > possible else { return }
        logger.notice(
            "Fewer connections are possible than configured",
            metadata: [
                "connections.configured": "\(configured)", "connections.possible": "\(possible)",
                "files.limit": "\(limit.rlim_cur)",
            ]
        )
        configuration.maximumConnections = possible
    }
}

/// The settings of the server that are options: a property of the setting's name for each.
struct SettingOptions: ParsableArguments {
    @Option(help: .setting("host")) var host: String?
    @Option(help: .setting("port")) var port: String?
    @Option(help: .setting("managementHost")) var managementHost: String?
    @Option(help: .setting("managementPort")) var managementPort: String?
    @Option(help: .setting("managementNames")) var managementNames: String?
    @Option(help: .setting("pagesPasswordFile"), completion: .file()) var pagesPasswordFile: String?
    @Option(help: .setting("countInterval")) var countInterval: String?
    @Option(help: .setting("countKeys")) var countKeys: String?
    @Option(help: .setting("countDays")) var countDays: String?
    @Option(help: .setting("rateLimit")) var rateLimit: String?
    @Option(help: .setting("trustedProxies")) var trustedProxies: String?
    @Option(help: .setting("allowedOrigins")) var allowedOrigins: String?
    @Option(help: .setting("maxConnections")) var maxConnections: String?
    @Option(help: .setting("maxConnectionsPerAddress")) var maxConnectionsPerAddress: String?
    @Option(help: .setting("tlsCertificate"), completion: .file()) var tlsCertificate: String?
    @Option(help: .setting("tlsKey"), completion: .file()) var tlsKey: String?
    @Option(help: .setting("lockoutKey"), completion: .file()) var lockoutKey: String?
    @Option(help: .setting("brakeFile"), completion: .file()) var brakeFile: String?
    @Flag(help: .setting("releaseTokens")) var releaseTokens = false
    @Option(help: .setting("drainSeconds")) var drainSeconds: String?
    @Option(help: .setting("logFormat")) var logFormat: String?
    @Option(help: .setting("logLevel")) var logLevel: String?

    /// A setting as it was written; nil where it is not set. Options win over the environment.
    func value(_ setting: Setting) -> String? {
        let option = Mirror(reflecting: self).children.first { $0.label == "_\(setting.name)" }?.value
        let isOn = (option as? Flag<Bool>)?.wrappedValue == true
        return (option as? Option<String?>)?.wrappedValue ?? (isOn ? "on" : nil)
            ?? ProcessInfo.processInfo.environment[setting.variable]
    }
}

extension ArgumentHelp {
    fileprivate static func setting(_ name: String) -> ArgumentHelp {
        guard let setting = Setting.all.first(where: { $0.name == name }), let valueName = setting.valueName else {
            preconditionFailure("\(name) is no setting that is an option")
        }
        let defaultText = setting.defaultText.map { "; default: \($0)" } ?? ""
        return ArgumentHelp("\(setting.help) (environment: \(setting.variable)\(defaultText))", valueName: valueName)
    }
}

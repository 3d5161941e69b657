import CheckListener
import Hummingbird
package import Logging
import NIOCore
import NIOPosix
import PolicyPages
package import Postgres
import ServiceLifecycle
import Synchronization
package import Systemd
package import UpdatePolicy

/// The server: both listeners, the live policy and the services around them.
package struct VersionGateServer: Sendable {
    /// The addresses of a server that listens.
    package struct Addresses: Sendable {
        /// The public listener, as `http://host:port`.
        package let publicURL: String
        /// The management listener, as `http://host:port`.
        package let managementURL: String
    }

    /// The time that a graceful shutdown may take before the rest is cancelled.
    ///
    /// The time for clients is bounded on each connection, and shorter; this bounds everything else.
    private static let maximumShutdownDuration: Duration = .seconds(8)
    /// The time after which the process is ended if it is still there.
    private static let lastResortDelay: Duration = .seconds(4)
    /// The interval at which the follower is checked where no service manager sets an interval.
    private static let watchInterval: Duration = .seconds(20)

    private let configuration: ServerConfiguration
    private let database: @Sendable () async throws -> PostgresConfiguration
    private let pagesDatabase: @Sendable () async throws -> PostgresConfiguration
    private let clock: @Sendable () -> Timestamp
    private let serviceManager: SystemdNotifier?
    private let log: OutputQueue?
    private let logger: Logger

    /// Creates the server; nothing happens before ``run(onReady:)``.
    ///
    /// - Parameters:
    ///   - configuration: Where to listen.
    ///   - database: Where the database is, asked before each connection; may bring the database up.
    ///   - pagesDatabase: The same for the pages for people, which may read as another role; nil: as `database`.
    ///   - clock: The time of a check.
    ///   - serviceManager: Receives the state of the server; nil: none does.
    ///   - log: Where the logger writes, for the metrics.
    ///   - logger: Where changes of state are logged.
    package init(
        configuration: ServerConfiguration,
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        pagesDatabase: (@Sendable () async throws -> PostgresConfiguration)? = nil,
        clock: @escaping @Sendable () -> Timestamp,
        serviceManager: SystemdNotifier? = nil,
        log: OutputQueue? = nil,
        logger: Logger
    ) {
        self.configuration = configuration
        self.database = database
        self.pagesDatabase = pagesDatabase ?? database
        self.clock = clock
        self.serviceManager = serviceManager
        self.log = log
        self.logger = logger
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameter onReady: Receives the addresses once both listeners are open and loading a policy was tried.
    package func run(onReady: @escaping @Sendable (Addresses) -> Void) async throws {
        LargeMemory.isGivenBack()
        let shutdownLimit = configuration.drainDuration + Self.maximumShutdownDuration
        TerminationSignals.prepare(endingWithin: shutdownLimit + Self.lastResortDelay)
        let tls = try configuration.publicListener.tls.map { try ReloadedCertificate($0, clock: clock, logger: logger) }
        let lockoutKey = configuration.lockoutKey.map { ReloadedLockoutKey($0, logger: logger) }
        ReloadSignal.trap { [logger] in
            if tls == nil, lockoutKey == nil {
                logger.notice("SIGHUP: without TLS and a lockout key there is nothing to read again")
            }
            tls?.reload()
            lockoutKey?.reload()
        }
        let file = configuration.stateDirectory.map { LastGoodPolicyFile(stateDirectory: $0) }
        try file?.requireProtectedFolder()
        if configuration.publicSocket == nil {
            try configuration.managementAddress.requireOther(than: configuration.publicAddress)
            try configuration.publicAddress.requireAvailable(for: "public")
        }
        try configuration.managementAddress.requireAvailable(for: "management")
        let trial = configuration.stateDirectory.map { PolicyTrial(stateDirectory: $0, clock: clock) }
        if trial?.hasNoFallback == true {
            logger.critical(
                "A revision ended servers twice within 10 minutes; it answers all the same, because none has passed before it"
            )
        }
        let policy = LivePolicy()
        let brake = configuration.brake.map { BrakeService(file: $0, policy: policy, logger: logger) }
        // The first answer goes by it.
        brake?.look()
        let eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: AvailableProcessors.count)
        let managementGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let state = ServingState()
        let supervision = Supervision(manager: serviceManager, logger: logger)
        let readiness = ReadinessReport(isEncrypted: configuration.publicListener.tls != nil) { addresses in
            supervision.notify(.ready, .status("public \(addresses.publicURL), management \(addresses.managementURL)"))
            onReady(addresses)
        }
        let statistics = ListenerStatistics()
        let counting = configuration.counting.interval.map { _ in
            CheckCounting(eventLoopGroup: eventLoopGroup, maximumKinds: configuration.counting.maximumKinds)
        }
        var bootstrap = CheckServerBootstrap(policy: policy.answering, eventLoopGroup: eventLoopGroup, clock: clock)
        bootstrap.recorders = counting?.recorders
        bootstrap.limits = configuration.publicListener.limits
        bootstrap.rateLimit = configuration.publicListener.rateLimit
        bootstrap.trustedProxies = configuration.publicListener.trustedProxies
        bootstrap.statistics = statistics
        bootstrap.tls = tls?.certificate
        bootstrap.lockoutKey = lockoutKey?.key
        bootstrap.runLongWork = { LowPriorityThread.start($0) }
        let ruleStatuses = RuleStatusService(database: database, policy: policy, clock: clock, logger: logger)
        let managementConnections = ManagementConnections()
        let pages = PolicyPages(
            facts: { ServerFacts(policy, counting, tls, lockoutKey, brake: configuration.brake) },
            database: pagesDatabase, clock: clock, logger: logger
        )
        let routes = ManagementRouter(
            hosts: HostCheck(names: configuration.managementNames + [configuration.managementAddress.host]),
            policy: policy,
            tls: tls,
            lockoutKey: lockoutKey,
            state: state,
            counting: counting,
            metrics: ServerMetrics(
                policy: policy, listener: statistics, counting: counting, tls: tls, lockoutKey: lockoutKey, log: log,
                ruleStatuses: ruleStatuses, clock: clock
            ),
            pages: pages,
            access: PageAccess(password: configuration.pagesPassword, host: configuration.managementAddress.host),
            clock: clock
        )
        let management = ManagementListener.application(
            address: configuration.managementAddress, router: routes.router, connections: managementConnections,
            eventLoopGroup: managementGroup, logger: logger, onBound: { readiness.management($0) }
        )
        var follower = PolicyFollower(database: database, policy: policy, clock: clock, logger: logger)
        follower.file = file
        follower.serving = state
        follower.tls = tls
        follower.lockoutKey = lockoutKey
        follower.trial = trial
        follower.countsChecks = counting != nil
        follower.answered = { statistics.answeredRequests }
        var lastGoodPolicy = LastGoodPolicyService(file: file, policy: policy, clock: clock, logger: logger)
        lastGoodPolicy.trial = trial
        lastGoodPolicy.answered = { statistics.answeredRequests }
        // Services end in the reverse order: the counts are written once the public listener has answered its last check.
        var services: [any Service] = [follower, lastGoodPolicy, ruleStatuses]
        if let trial, let file {
            services.append(
                PolicyTrialService(trial: trial, file: file, policy: policy, statistics: statistics, logger: logger)
            )
        }
        if let brake { services.append(brake) }
        services += countingServices(counting, policy, state)
        services +=
            [
                ManagementService(
                    application: management, address: configuration.managementAddress,
                    connections: managementConnections, logger: logger
                ),
                PublicListener(
                    address: configuration.publicAddress,
                    socket: configuration.publicSocket,
                    policy: policy,
                    bootstrap: bootstrap,
                    eventLoopGroup: eventLoopGroup,
                    logger: logger,
                    onBound: { address in
                        state.publicListenerIsOpen(on: address.port)
                        readiness.publicListener(address)
                    }
                ),
                DrainService(
                    state: state, duration: configuration.drainDuration, supervision: supervision, logger: logger
                ),
            ] as [any Service]
        let watchdog = WatchdogService(
            interval: serviceManager?.watchdogInterval ?? Self.watchInterval, eventLoopGroup: eventLoopGroup,
            supervision: serviceManager?.watchdogInterval == nil ? nil : supervision, policy: policy, logger: logger
        )
        services.insert(watchdog, at: 0)
        var groupConfiguration = ServiceGroupConfiguration(services: services, logger: logger)
        groupConfiguration.maximumGracefulShutdownDuration = shutdownLimit
        // After a service has failed the others are cancelled.
        groupConfiguration.maximumCancellationDuration = shutdownLimit
        let group = ServiceGroup(configuration: groupConfiguration)
        TerminationSignals.trap { Task { await group.triggerGracefulShutdown() } }
        let result: Result<Void, any Error>
        do {
            result = .success(try await group.run())
        } catch {
            result = .failure(error)
        }
        // It ends by itself, also where a service has failed.
        trial?.stop()
        await pages.close()
        try await managementGroup.shutdownGracefully()
        try await eventLoopGroup.shutdownGracefully()
        try result.get()
    }

    private func countingServices(
        _ counting: CheckCounting?,
        _ policy: LivePolicy,
        _ state: ServingState
    ) -> [any Service] {
        guard let counting, let interval = configuration.counting.interval else { return [] }
        // Only a primary can be written, so libpq must choose that one of several hosts.
        let primary: @Sendable () async throws -> PostgresConfiguration = { [database] in
            var configuration = try await database()
            configuration.overrides["target_session_attrs"] = "read-write"
            return configuration
        }
        return [
            CountRollUp(
                database: primary, daysKept: configuration.counting.daysKept, counting: counting, logger: logger
            ),
            CountWriter(
                database: primary, counting: counting,
                server: { policy.current.map { (ServingState.name(state), $0.revision) } }, interval: interval,
                clock: clock, logger: logger
            ),
        ]
    }
}

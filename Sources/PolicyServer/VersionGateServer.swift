import CheckListener
import Glibc
import Hummingbird
package import Logging
import NIOCore
import NIOPosix
import PolicyPages
package import Postgres
package import Systemd
package import UpdatePolicy

/// The server: both listeners, the live policy and what goes on around them.
package struct VersionGateServer: Sendable {
    /// The addresses of a server that listens.
    package struct Addresses: Sendable {
        /// The public listener, as `http://host:port`.
        package let publicURL: String
        /// The management listener, as `http://host:port`.
        package let managementURL: String
    }

    /// The time that the end may take, beside the drain, before the process is ended.
    ///
    /// The time for clients is bounded on each connection, and shorter; this bounds everything else.
    private static let maximumShutdownDuration: Duration = .seconds(12)
    /// The interval at which the follower is checked where no service manager sets an interval.
    private static let watchInterval: Duration = .seconds(20)

    private let configuration: ServerConfiguration
    private let database: @Sendable () async throws -> PostgresConfiguration
    private let pagesDatabase: @Sendable () async throws -> PostgresConfiguration
    private let clock: @Sendable () -> Timestamp
    private let serviceManager: SystemdNotifier?
    private let log: LineOutput?
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
        log: LineOutput? = nil,
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

    /// Serves until SIGTERM or SIGINT, or until a part of it fails.
    ///
    /// - Parameter onReady: Receives the addresses once both listeners are open and loading a policy was tried.
    package func run(onReady: @escaping @Sendable (Addresses) -> Void) async throws {
        Machine.giveBackLargeMemory()
        let end = ServerEnd()
        let lastResort = LastResort(within: configuration.drainDuration + Self.maximumShutdownDuration)
        for number in [SIGTERM, SIGINT] {
            ProcessSignals.trap(number) {
                lastResort.begin()
                end.request()
            }
        }
        let tls = try configuration.publicListener.tls.map { try ReloadedCertificate($0, clock: clock, logger: logger) }
        let lockoutKey = configuration.lockoutKey.map { ReloadedLockoutKey($0, logger: logger) }
        ProcessSignals.trap(SIGHUP) { [logger] in
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
        }
        let trial = configuration.stateDirectory.map { PolicyTrial(stateDirectory: $0, clock: clock) }
        if trial?.hasNoFallback == true {
            logger.critical(
                "A revision ended servers twice within 10 minutes; it answers all the same, because none has passed before it"
            )
        }
        let policy = LivePolicy()
        let brake = configuration.brake.map { BrakeWatch(file: $0, policy: policy, logger: logger) }
        // The first answer goes by it.
        brake?.look()

        let eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: AvailableProcessors.count)
        let managementGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let supervision = Supervision(manager: serviceManager, logger: logger)
        let statistics = ListenerStatistics()
        let counting = configuration.counting.interval.map { _ in
            CheckCounting(eventLoopGroup: eventLoopGroup, maximumKinds: configuration.counting.maximumKinds)
        }
        let counts = counting.map { delivery(of: $0, policy) }
        let ruleStatuses = RuleStatuses(database: database, policy: policy, clock: clock, logger: logger)
        let pages = PolicyPages(
            facts: { ServerFacts(policy, counting, tls, lockoutKey, brake: configuration.brake) },
            database: pagesDatabase, clock: clock, logger: logger
        )
        let router = ManagementRouter(
            hosts: HostCheck(names: configuration.managementNames + [configuration.managementAddress.host]),
            policy: policy, tls: tls, lockoutKey: lockoutKey, counting: counting,
            metrics: ServerMetrics(
                policy: policy, listener: statistics, counting: counting, tls: tls, lockoutKey: lockoutKey, log: log,
                ruleStatuses: ruleStatuses, clock: clock
            ),
            pages: pages,
            access: PageAccess(password: configuration.pagesPassword, host: configuration.managementAddress.host),
            clock: clock
        )

        var parts: [@Sendable () async throws -> Void] = [
            { [self] in
                var follower = follower(policy, file, trial, tls, lockoutKey, statistics)
                await follower.run()
            },
            { [clock, logger] in
                var keeper = LastGoodPolicyService(file: file, policy: policy, clock: clock, logger: logger)
                keeper.trial = trial
                keeper.answered = { statistics.answeredRequests }
                await keeper.run()
            },
            { await ruleStatuses.run() },
            { [self] in
                let interval = serviceManager?.watchdogInterval
                await Watchdog(
                    interval: interval ?? Self.watchInterval, eventLoopGroup: eventLoopGroup,
                    supervision: interval == nil ? nil : supervision, policy: policy, logger: logger
                ).run()
            },
        ]
        if let brake { parts.append { await brake.run() } }
        if let trial, let file {
            parts.append { [logger] in
                await PolicyTrialService(
                    trial: trial, file: file, policy: policy, statistics: statistics, logger: logger
                ).run()
            }
        }
        if let counting, let counts, let interval = configuration.counting.interval {
            parts.append { await counts.run(every: interval) }
            parts.append { [self] in
                await CountRollUp(
                    database: { try await primary() }, daysKept: configuration.counting.daysKept, counting: counting,
                    logger: logger
                ).run()
            }
        }
        let result: Result<Void, any Error>
        do {
            try await end.run(parts) {
                let management = try await ManagementListener.open(
                    at: configuration.managementAddress, router.router, eventLoopGroup: managementGroup, logger: logger,
                    onFailure: { end.request(because: $0) }
                )
                do {
                    try await policy.firstLoadAttempt()
                    var bootstrap = CheckServerBootstrap(
                        policy: policy.answering, eventLoopGroup: eventLoopGroup, clock: clock)
                    bootstrap.recorders = counting?.recorders
                    bootstrap.limits = configuration.publicListener.limits
                    bootstrap.rateLimit = configuration.publicListener.rateLimit
                    bootstrap.trustedProxies = configuration.publicListener.trustedProxies
                    bootstrap.statistics = statistics
                    bootstrap.tls = tls?.certificate
                    bootstrap.lockoutKey = lockoutKey?.key
                    bootstrap.runLongWork = { LowPriorityThread.start($0) }
                    let listener = try await PublicListener.open(
                        at: configuration.publicAddress, socket: configuration.publicSocket, bootstrap, eventLoopGroup)
                    if let bound = listener.channel.localAddress {
                        policy.update { $0.publicPort = bound.port }
                        logger.notice("The public listener is open", metadata: ["address": "\(bound)"])
                        let addresses = Addresses(
                            publicURL: Self.url(bound, scheme: tls == nil ? "http" : "https"),
                            managementURL: Self.url(management.bound, scheme: "http")
                        )
                        supervision.notify(
                            .ready, .status("public \(addresses.publicURL), management \(addresses.managementURL)"))
                        onReady(addresses)
                    }
                    await end.requested()
                    lastResort.begin()
                    policy.update { $0.isShuttingDown = true }
                    logger.notice("The server is shutting down", metadata: ["drain": "\(configuration.drainDuration)"])
                    supervision.notify(.stopping)
                    // Everything goes on until load balancers have noticed.
                    try await Task.sleep(for: configuration.drainDuration)
                    try await listener.close()
                    logger.notice("The public listener is closed")
                } catch {
                    end.request(because: error)
                }
                // The last check has been answered, and is counted too.
                await counts?.deliver(isLast: true)
                await management.close()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        // It ends by itself, also where a part has failed.
        trial?.stop()
        await pages.close()
        try await managementGroup.shutdownGracefully()
        try await eventLoopGroup.shutdownGracefully()
        try result.get()
    }

    private func follower(
        _ policy: LivePolicy,
        _ file: LastGoodPolicyFile?,
        _ trial: PolicyTrial?,
        _ tls: ReloadedCertificate?,
        _ lockoutKey: ReloadedLockoutKey?,
        _ statistics: ListenerStatistics
    ) -> PolicyFollower {
        PolicyFollower(
            database: database, policy: policy, clock: clock, logger: logger, file: file, tls: tls,
            lockoutKey: lockoutKey, trial: trial, countsChecks: configuration.counting.interval != nil,
            answered: { statistics.answeredRequests }
        )
    }

    private func delivery(of counting: CheckCounting, _ policy: LivePolicy) -> CountDelivery {
        CountDelivery(
            database: { try await primary() }, counting: counting,
            server: { policy.current.map { (policy.status.serverName, $0.revision) } }, clock: clock, logger: logger
        )
    }

    /// Only a primary can be written, so libpq must choose that one of several hosts.
    private func primary() async throws -> PostgresConfiguration {
        var configuration = try await database()
        configuration.overrides["target_session_attrs"] = "read-write"
        return configuration
    }

    private static func url(_ address: SocketAddress, scheme: String) -> String {
        let host = address.ipAddress ?? "localhost"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(address.port ?? 0)"
    }
}

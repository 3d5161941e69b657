import CheckListener
import Glibc
package import Logging
import NIOCore
import NIOPosix
import PolicyPages
package import Postgres
package import Systemd
package import UpdatePolicy

/// The server: both listeners, the live policy and what goes on around them.
package struct VersionGateServer: Sendable {
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

    private let configuration: ServerConfiguration
    private let pagesDatabase: @Sendable () async throws -> PostgresConfiguration
    private let serviceManager: SystemdNotifier?
    private let logger: Logger
    private let bare: ServerState

    /// Creates the server; nothing happens before ``run(onReady:)``.
    ///
    /// - Parameters:
    ///   - database: Where the database is, asked before each connection; may bring the database up.
    ///   - pagesDatabase: The same for the pages for people, which may read as another role.
    ///   - serviceManager: Receives the state of the server; nil: none does.
    ///   - log: Where the logger writes, for the metrics.
    ///   - logger: Where changes of state are logged.
    package init(
        configuration: ServerConfiguration,
        database: @escaping @Sendable () async throws -> PostgresConfiguration,
        pagesDatabase: @escaping @Sendable () async throws -> PostgresConfiguration,
        clock: @escaping @Sendable () -> Timestamp,
        serviceManager: SystemdNotifier?,
        log: LineOutput,
        logger: Logger
    ) {
        self.configuration = configuration
        self.pagesDatabase = pagesDatabase
        self.serviceManager = serviceManager
        self.logger = logger
        bare = ServerState(log: log, database: database, clock: clock, logger: logger)
    }

    /// Serves until SIGTERM or SIGINT, or until a part of it fails.
    ///
    /// - Parameter onReady: Receives the addresses once both listeners are open and loading a policy was tried.
    package func run(onReady: @escaping @Sendable (Addresses) -> Void) async throws {
        Machine.giveBackLargeMemory()
        let end = ServerEnd(onRequest: { [policy = bare.policy] in policy.update { $0.isFirstLoadTried = true } })
        let lastResort = LastResort(within: configuration.drainDuration + Self.maximumShutdownDuration)
        for number in [SIGTERM, SIGINT] {
            ProcessSignals.trap(number) {
                lastResort.begin()
                end.request()
            }
        }
        let eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: AvailableProcessors.count)
        let managementGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let result: Result<Void, any Error>
        do {
            try await serve(until: end, lastResort, eventLoopGroup, managementGroup, onReady)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        try await managementGroup.shutdownGracefully()
        try await eventLoopGroup.shutdownGracefully()
        try result.get()
    }

    private func serve(
        until end: ServerEnd,
        _ lastResort: LastResort,
        _ eventLoopGroup: MultiThreadedEventLoopGroup,
        _ managementGroup: MultiThreadedEventLoopGroup,
        _ onReady: @Sendable (Addresses) -> Void
    ) async throws {
        let state = try startingState(eventLoopGroup)
        let (policy, logger) = (state.policy, logger)
        ProcessSignals.trap(SIGHUP) { Self.readAgain(state) }
        let ruleStatuses = RuleStatuses(state)
        let pages = PolicyPages(
            facts: { ServerFacts(state) }, database: pagesDatabase, clock: state.clock, logger: logger
        )
        let router = ManagementRouter(
            state: state, metrics: ServerMetrics(state: state, ruleStatuses: ruleStatuses), pages: pages,
            hosts: HostCheck(names: configuration.managementNames + [configuration.managementAddress.host]),
            access: PageAccess(password: configuration.pagesPassword, host: configuration.managementAddress.host)
        )

        var parts: [ServerEnd.Part] = []
        func part(_ name: String, _ run: @escaping @Sendable () async -> Void) { parts.append((name, run)) }
        part("the follower of the database") {
            var follower = PolicyFollower(state: state)
            await follower.run()
        }
        part("the policy on disk") { await LastGoodPolicyService(state: state).run() }
        part("the statuses of rules") { await ruleStatuses.run() }
        let watchdog = Watchdog(manager: serviceManager, eventLoopGroup: eventLoopGroup, policy: policy, logger: logger)
        part("the watchdog") { await watchdog.run() }
        if let file = state.brake {
            let brake = BrakeWatch(file: file, policy: policy, logger: logger)
            // The first answer goes by it.
            brake.look()
            part("the brake") { await brake.run() }
        }
        if let trial = state.trial, let file = state.file { part("trials") { await trial.run(file, state) } }
        let counts = state.counting.map { CountDelivery(state, $0) }
        let releases = configuration.takesReleases ? ReleaseRecording(state) : nil
        if let releases { part("releases") { await releases.run() } }
        if let counting = state.counting, let counts, let interval = configuration.countInterval {
            let rollUp = CountRollUp(state: state, counting: counting, daysKept: configuration.daysKept)
            part("counts") { await counts.run(every: interval) }
            part("the roll-up of counts") { await rollUp.run() }
        }

        // It ends by itself, also where a part has failed.
        defer { state.trial?.stop() }
        try await end.run(parts) {
            let management = try await ManagementListener.open(
                at: configuration.managementAddress, router.router, eventLoopGroup: managementGroup, logger: logger,
                onFailure: { end.request(because: $0) }
            )
            do {
                try await policy.firstLoadAttempt()
                let listener = try await openPublicListener(state, eventLoopGroup, releases)
                if let bound = listener.channel.localAddress {
                    policy.update { $0.publicPort = bound.port }
                    logger.notice("The public listener is open", metadata: ["address": "\(bound)"])
                    let addresses = Addresses(
                        publicURL: Self.url(bound, scheme: state.tls == nil ? "http" : "https"),
                        managementURL: Self.url(management.bound, scheme: "http")
                    )
                    let status = "public \(addresses.publicURL), management \(addresses.managementURL)"
                    serviceManager?.notify(.ready, .status(status), logger: logger)
                    onReady(addresses)
                }
                await end.requested()
                lastResort.begin()
                policy.update { $0.isShuttingDown = true }
                logger.notice("The server is shutting down", metadata: ["drain": "\(configuration.drainDuration)"])
                serviceManager?.notify(.stopping, logger: logger)
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
            await pages.close()
        }
    }

    /// What the parts share, with the files as they are at the start.
    private func startingState(_ eventLoopGroup: any EventLoopGroup) throws -> ServerState {
        var state = bare
        if configuration.tls != TLSFiles() {
            state.tls = try ReloadedCertificate(configuration.tls, clock: state.clock, logger: logger)
        }
        state.lockoutKey = configuration.lockoutKey.map { ReloadedLockoutKey($0, logger: logger) }
        state.brake = configuration.brake
        if configuration.countInterval != nil {
            state.counting = CheckCounting(eventLoopGroup: eventLoopGroup, maximumKinds: configuration.maximumKinds)
        }
        if configuration.publicSocket == nil {
            try configuration.managementAddress.requireOther(than: configuration.publicAddress)
        }
        guard let folder = configuration.stateDirectory else { return state }
        let file = LastGoodPolicyFile(stateDirectory: folder)
        try file.requireProtectedFolder()
        let trial = PolicyTrial(stateDirectory: folder, clock: state.clock)
        if trial.hasNoFallback {
            logger.critical(
                "A revision ended servers twice within 10 minutes; it answers all the same, because none has passed before it"
            )
        }
        (state.file, state.trial) = (file, trial)
        return state
    }

    private static func readAgain(_ state: ServerState) {
        if state.tls == nil, state.lockoutKey == nil {
            state.logger.notice("SIGHUP: without TLS and a lockout key there is nothing to read again")
        }
        state.tls?.reload()
        state.lockoutKey?.reload()
    }

    private func openPublicListener(
        _ state: ServerState,
        _ eventLoopGroup: any EventLoopGroup,
        _ releases: ReleaseRecording?
    ) async throws(ListenerError) -> CheckServer {
        var bootstrap = CheckServerBootstrap(
            policy: state.policy.answering, eventLoopGroup: eventLoopGroup, clock: state.clock
        )
        bootstrap.recorders = state.counting?.recorders
        bootstrap.limits = configuration.limits
        bootstrap.rateLimit = configuration.rateLimit
        bootstrap.trustedProxies = configuration.trustedProxies
        bootstrap.allowedOrigins = configuration.allowedOrigins
        bootstrap.statistics = state.statistics
        bootstrap.tls = state.tls?.certificate
        bootstrap.lockoutKey = state.lockoutKey?.key
        bootstrap.releases = releases?.recorder
        bootstrap.runLongWork = { LowPriorityThread.start($0) }
        let (address, socket) = (configuration.publicAddress, configuration.publicSocket)
        do {
            return try await bootstrap.open { bootstrap in
                socket.map { bootstrap.withBoundSocket($0.descriptor) }
                    ?? bootstrap.bind(host: address.host, port: address.port)
            }
        } catch {
            throw ListenerError(listener: "public", address: address, reason: error)
        }
    }

    private static func url(_ address: SocketAddress, scheme: String) -> String {
        let host = address.ipAddress ?? "localhost"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(address.port ?? 0)"
    }
}

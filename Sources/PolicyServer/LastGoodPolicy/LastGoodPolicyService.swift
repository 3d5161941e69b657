import Logging
import PolicyStore
import UpdatePolicy

/// Keeps the last good policy on disk, and loads it where a server starts without its database.
struct LastGoodPolicyService: Sendable {
    /// How long a start waits for the database before it reads the file; longer than a working database needs.
    private static let databaseTimeout: Duration = .seconds(2)

    let state: ServerState
    /// When a policy that could not be written is tried again.
    var retryInterval: Duration = .seconds(10)

    private var policy: LivePolicy { state.policy }
    private var logger: Logger { state.logger }

    /// Loads the policy of the file where the database gives none, and writes those of the database until the task is
    /// cancelled, and then the one that came last.
    func run() async {
        await start()
        var writer = state.file.map { LastGoodPolicyFileWriter($0) }
        let (occasions, occasion) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { for await _ in policy.loadedFromDatabase { occasion.yield() } }
            tasks.addTask { while (try? await Task.sleep(for: retryInterval)) != nil { occasion.yield() } }
            for await _ in occasions {
                // Without the database, too, nothing is held back for longer than it may be.
                let status = policy.status
                if status.standsInUntil != nil, !status.databaseIsReachable, state.trial?.fallback == nil {
                    await bringBack()
                }
                await write(&writer)
            }
            tasks.cancelAll()
        }
        await write(&writer)
    }

    /// Loads the policy of the file if the database does not give one within ``databaseTimeout``.
    private func start() async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try? await policy.firstDatabaseAttempt() }
            tasks.addTask { try? await Task.sleep(for: Self.databaseTimeout) }
            await tasks.next()
            tasks.cancelAll()
        }
        defer { policy.update { $0.isFirstLoadTried = true } }
        // A start that failed elsewhere has cut the wait short; what is known by now says nothing.
        guard !Task.isCancelled, policy.current == nil else { return }
        await bringBack()
    }

    /// Loads the policy of the file, or in its place one that passed before, where servers died of what is newest.
    private func bringBack() async {
        let (trial, fallback) = (state.trial, state.trial?.fallback)
        guard let file = fallback?.file ?? state.file else { return }
        do {
            let loaded = try await LowPriorityThread.run {
                // Another server may have replaced it meanwhile.
                guard let rows = try file.read(), fallback == nil || trial?.heldUntil(rows.token) == nil else {
                    return CompiledPolicy?.none
                }
                trial?.begin(PolicyVersion(revision: rows.revision, token: rows.token))
                return try CompiledPolicy(rows)
            }
            if let loaded {
                guard policy.takeFromDisk(loaded, standingInUntil: fallback?.until, at: state.clock()) else {
                    trial?.abandon(loaded.version)
                    return
                }
                trial?.taken(loaded.version, at: .now, answered: state.statistics.answeredRequests)
                logger.log(
                    level: fallback == nil ? .warning : .critical,
                    fallback == nil
                        ? "The database gives no policy; the last good one, from disk, answers"
                        : "Servers ended by a newer policy; one that passed before answers, its lockouts as plain messages",
                    metadata: ["policy.revision": "\(loaded.revision)", "policy.file": "\(file.path)"]
                )
            } else if policy.current == nil, fallback == nil {
                logger.warning(
                    "There is no policy yet, neither from the database nor on disk; checks are answered without messages",
                    metadata: ["policy.file": "\(file.path)"]
                )
            }
        } catch let error as LastGoodPolicyFileError where error.isOfLaterVersion {
            policy.update { $0.fileFault = "\(error)" }
            logger.error(
                "The policy on disk cannot be used by this version and stays where it is",
                metadata: ["error": "\(error)", "policy.file": "\(file.path)"]
            )
        } catch {
            let aside = file.setAside()
            policy.update { $0.fileFault = "\(error)" }
            logger.error(
                "The policy on disk cannot be used and is set aside",
                metadata: ["error": "\(error)", "policy.file": "\(aside ?? file.path)"]
            )
        }
        guard fallback != nil, policy.current == nil else { return }
        trial?.holdNothingBack()
        await bringBack()
    }

    /// Writes the policy that answers if it is from the database and not the last that was written.
    private func write(_ writer: inout LastGoodPolicyFileWriter?) async {
        guard var next = writer, policy.status.source == .database, let current = policy.current,
            current !== next.policy
        else { return }
        var fault: String?
        do {
            next = try await LowPriorityThread.run { [next] in
                var writer = next
                try writer.write(current)
                return writer
            }
            writer = next
        } catch {
            fault = "\(error)"
        }
        let isNew = policy.update { status in
            defer { status.fileFault = fault }
            return status.fileFault != fault
        }
        guard isNew else { return }
        if let fault {
            logger.warning(
                "The policy cannot be kept on disk; a start without a database would have an older one or none",
                metadata: ["error": "\(fault)"]
            )
        } else {
            logger.notice("The policy is on disk again")
        }
    }
}

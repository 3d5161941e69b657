import Logging
import PolicyStore
import UpdatePolicy

/// Keeps the last good policy on disk, and loads it where a server starts without its database.
struct LastGoodPolicyService: Sendable {
    /// How long a start waits for the database before it reads the file; longer than a working database needs.
    private static let databaseTimeout: Duration = .seconds(2)

    /// Where the policy is kept; nil: nowhere.
    let file: LastGoodPolicyFile?
    let policy: LivePolicy
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    /// Knows which policies are held back; nil: none is.
    var trial: PolicyTrial?
    /// How many requests were answered so far.
    var answered: @Sendable () -> Int = { 0 }
    /// When a policy that could not be written is tried again.
    var retryInterval: Duration = .seconds(10)

    /// Loads the policy of the file where the database gives none, and writes those of the database until the task is
    /// cancelled, and then the one that came last.
    func run() async {
        await start()
        guard let file else { return }
        var writer = LastGoodPolicyFileWriter(file)
        var last: CompiledPolicy?
        let (occasions, occasion) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { for await _ in policy.loadedFromDatabase { occasion.yield() } }
            tasks.addTask { while (try? await Task.sleep(for: retryInterval)) != nil { occasion.yield() } }
            for await _ in occasions {
                // Without the database, too, nothing is held back for longer than it may be.
                let status = policy.status
                if status.standsInUntil != nil, !status.databaseIsReachable, trial?.fallback == nil {
                    await bringBack()
                }
                (writer, last) = await write(writer, last)
            }
            tasks.cancelAll()
        }
        _ = await write(writer, last)
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
        let fallback = trial?.fallback
        guard let file = fallback?.file ?? file else { return }
        do {
            let loaded = try await LowPriorityThread.run { [trial] in
                // Another server may have replaced it meanwhile.
                guard let rows = try file.read(), fallback == nil || trial?.heldUntil(rows.token) == nil else {
                    return CompiledPolicy?.none
                }
                trial?.begin(PolicyVersion(revision: rows.revision, token: rows.token))
                return try CompiledPolicy(rows)
            }
            if let loaded {
                guard policy.takeFromDisk(loaded, standingInUntil: fallback?.until, at: clock()) else {
                    trial?.abandon(loaded.version)
                    return
                }
                trial?.taken(loaded.version, at: .now, answered: answered())
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
    private func write(
        _ writer: LastGoodPolicyFileWriter,
        _ last: CompiledPolicy?
    ) async -> (LastGoodPolicyFileWriter, CompiledPolicy?) {
        guard policy.status.source == .database, let current = policy.current, current !== last else {
            return (writer, last)
        }
        do {
            let writer = try await LowPriorityThread.run {
                var writer = writer
                try writer.write(current)
                return writer
            }
            if note(fault: nil) { logger.notice("The policy is on disk again") }
            return (writer, current)
        } catch {
            if note(fault: "\(error)") {
                logger.warning(
                    "The policy cannot be kept on disk; a start without a database would have an older one or none",
                    metadata: ["error": "\(error)"]
                )
            }
            return (writer, last)
        }
    }

    /// Notes whether the policy is on disk. Returns whether that is new.
    private func note(fault: String?) -> Bool {
        policy.update { status in
            defer { status.fileFault = fault }
            return status.fileFault != fault
        }
    }
}

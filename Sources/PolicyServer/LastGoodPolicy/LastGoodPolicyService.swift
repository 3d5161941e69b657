// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import PolicyStore
import ServiceLifecycle
import UpdatePolicy

/// Keeps the last good policy on disk, and loads it where a server starts without its database.
struct LastGoodPolicyService: Service {
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

    func run() async throws {
        await bringBack()
        guard let file else { return try await gracefulShutdown() }
        var writer = LastGoodPolicyFileWriter(file)
        var last: CompiledPolicy?
        let (occasions, occasion) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { for await _ in policy.loadedFromDatabase { occasion.yield() } }
            tasks.addTask { while (try? await Task.sleep(for: retryInterval)) != nil { occasion.yield() } }
            for await _ in occasions.cancelOnGracefulShutdown() {
                (writer, last) = await write(writer, last)
            }
            tasks.cancelAll()
        }
        // The one that came while the one before was written.
        _ = await write(writer, last)
    }

    /// Loads the policy of the file if the database does not give one within ``databaseTimeout``.
    private func bringBack() async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try? await policy.firstDatabaseAttempt() }
            tasks.addTask { try? await Task.sleep(for: Self.databaseTimeout) }
            await tasks.next()
            tasks.cancelAll()
        }
        defer { policy.noteFirstLoadAttempt() }
        // A start that failed elsewhere has cut the wait short; what is known by now says nothing.
        guard !Task.isCancelled, policy.current == nil, let file = usableFile else { return }
        do {
            let loaded = try await LowPriorityThread.run { [trial] in
                try file.read().map { rows in
                    trial?.begin(PolicyVersion(revision: rows.revision, token: rows.token))
                    return try CompiledPolicy(rows)
                }
            }
            guard let loaded else {
                logger.warning(
                    "There is no policy yet, neither from the database nor on disk; checks are answered without messages",
                    metadata: ["policy.file": "\(file.path)"]
                )
                return
            }
            guard policy.replaceNothing(with: loaded, at: clock()) else {
                trial?.abandon(loaded.version)
                return
            }
            trial?.taken(loaded.version, at: .now, answered: answered())
            logger.warning(
                "The database gives no policy; the last good one, from disk, answers",
                metadata: ["policy.revision": "\(loaded.revision)", "policy.file": "\(file.path)"]
            )
        } catch let error as LastGoodPolicyFileError where error.isOfLaterVersion {
            policy.noteFile(fault: "\(error)")
            logger.error(
                "The policy on disk cannot be used by this version and stays where it is",
                metadata: ["error": "\(error)", "policy.file": "\(file.path)"]
            )
        } catch {
            let aside = file.setAside()
            policy.noteFile(fault: "\(error)")
            logger.error(
                "The policy on disk cannot be used and is set aside",
                metadata: ["error": "\(error)", "policy.file": "\(aside ?? file.path)"]
            )
        }
    }

    /// The file, or the policy that passed before it where servers died of the one in it.
    private var usableFile: LastGoodPolicyFile? {
        guard let file, case .policy(let version) = file.occupant, trial?.holdsBack(version.token) == true else {
            return file
        }
        return file.passed
    }

    /// Writes the policy that answers if it is from the database and not the last that was written.
    private func write(
        _ writer: LastGoodPolicyFileWriter,
        _ last: CompiledPolicy?
    ) async -> (LastGoodPolicyFileWriter, CompiledPolicy?) {
        guard policy.status.source == .database, let current = policy.current, current !== last else {
            return (writer, last)
        }
        let replacement = policy.status.replacement
        do {
            let (writer, kept) = try await LowPriorityThread.run {
                var writer = writer
                let kept = try writer.file.keep(before: current.version, replacing: replacement?.before)
                try writer.write(current)
                return (writer, kept)
            }
            if let kept { noteKept(kept) }
            let before = policy.status.fileFault
            policy.noteFile(fault: nil)
            if before != nil { logger.notice("The policy is on disk again") }
            return (writer, current)
        } catch {
            let before = policy.status.fileFault
            policy.noteFile(fault: "\(error)")
            if before != "\(error)" {
                logger.warning(
                    "The policy cannot be kept on disk; a start without a database would have an older one or none",
                    metadata: ["error": "\(error)"]
                )
            }
            return (writer, last)
        }
    }

    private func noteKept(_ path: String) {
        policy.noteReplacedPolicy(keptAs: path)
        logger.warning("The policy that was replaced is kept", metadata: ["policy.file": "\(path)"])
    }
}

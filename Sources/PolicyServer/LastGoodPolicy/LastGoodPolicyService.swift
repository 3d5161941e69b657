// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Logging
import ServiceLifecycle
import UpdatePolicy

/// Keeps the last good policy on disk, and brings it back where a server starts without its database.
struct LastGoodPolicyService: Service {
    /// How long a start waits for the database before it looks for the file; longer than a database that works needs.
    private static let patience: Duration = .seconds(2)

    /// Where the policy is kept; nil: nowhere.
    let file: PolicyFile?
    let policy: LivePolicy
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    func run() async throws {
        await bringBack()
        guard let file else { return try await gracefulShutdown() }
        var writer = PolicyFileWriter(file)
        var last: CompiledPolicy?
        for await loaded in policy.loadedFromDatabase.cancelOnGracefulShutdown() {
            (writer, last) = await write(loaded, writer)
        }
        // The one that came while the one before was written.
        if policy.status.source == .database, let current = policy.current, current !== last {
            _ = await write(current, writer)
        }
    }

    /// Answers with the policy of the file if the database does not give one soon.
    private func bringBack() async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try? await policy.firstDatabaseAttempt() }
            tasks.addTask { try? await Task.sleep(for: Self.patience) }
            await tasks.next()
            tasks.cancelAll()
        }
        defer { policy.noteFirstLoadAttempt() }
        guard policy.current == nil, let file else { return }
        do {
            let loaded = try await LowPriorityThread.run(named: "read-policy") {
                try file.read().map { try CompiledPolicy($0) }
            }
            guard let loaded else {
                logger.warning(
                    "There is no policy yet, neither from the database nor on disk; checks are answered without messages",
                    metadata: ["policy.file": "\(file.path)"]
                )
                return
            }
            if policy.replaceNothing(with: loaded, at: clock()) {
                logger.warning(
                    "The database gives no policy; the last good one, from disk, answers",
                    metadata: ["policy.revision": "\(loaded.revision)", "policy.file": "\(file.path)"]
                )
            }
        } catch {
            let aside = file.setAside()
            policy.noteFile(fault: "\(error)")
            logger.error(
                "The policy on disk cannot be used and is set aside",
                metadata: ["error": "\(error)", "policy.file": "\(aside ?? file.path)"]
            )
        }
    }

    private func write(
        _ loaded: CompiledPolicy,
        _ writer: PolicyFileWriter
    ) async -> (PolicyFileWriter, CompiledPolicy?) {
        do {
            let writer = try await LowPriorityThread.run(named: "write-policy") {
                var writer = writer
                try writer.write(loaded)
                return writer
            }
            if policy.status.fileFault != nil { logger.notice("The policy is on disk again") }
            policy.noteFile(fault: nil)
            return (writer, loaded)
        } catch {
            if policy.status.fileFault != "\(error)" {
                logger.warning(
                    "The policy cannot be kept on disk; a start without a database would have an older one or none",
                    metadata: ["error": "\(error)"]
                )
            }
            policy.noteFile(fault: "\(error)")
            return (writer, nil)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Logging
import ServiceLifecycle
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Last good policy service")
struct LastGoodPolicyServiceTests {
    private static let noon = Timestamp(microsecondsSince1970: 1_772_366_400_000_000)

    @Test("The service writes again what could not be written, without another edit")
    func writesAgain() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/versiongate-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // A file in the place of the folder keeps the policy from being written.
        try Data().write(to: URL(fileURLWithPath: folder))
        let file = LastGoodPolicyFile(stateDirectory: folder)
        let policy = LivePolicy()
        policy.replace(with: try ExamplePolicy.policy(revision: 7), at: Self.noon)
        let log = LogRecord()
        let service = LastGoodPolicyService(
            file: file,
            policy: policy,
            clock: { Self.noon },
            logger: log.logger,
            retryInterval: .milliseconds(10)
        )
        let services = ServiceGroup(services: [service], logger: log.logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await services.run() }
            for await message in log.messages where message.hasPrefix("The policy cannot be kept on disk") { break }
            #expect(policy.status.fileFault?.contains(file.path) == true)
            try FileManager.default.removeItem(atPath: folder)
            for await message in log.messages where message == "The policy is on disk again" { break }
            await services.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(policy.status.fileFault == nil)
        #expect(try file.read()?.revision == 7)
        // However often it was tried, the fault was told once.
        #expect(log.entries.filter { $0.level == .warning }.count == 1)
    }
}

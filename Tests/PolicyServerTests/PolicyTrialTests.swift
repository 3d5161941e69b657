// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import PolicyStore
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Policy trial")
struct PolicyTrialTests {
    private static let version = PolicyVersion(revision: 7, token: "seven")

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/versiongate-trial-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    /// What a server leaves that dies so many seconds ago while it has a policy on trial.
    private static func die(of token: String, _ seconds: TimeInterval, in folder: String) throws {
        let path = "\(folder)/policy-trial.\(UUID().uuidString)"
        try Data(token.utf8).write(to: URL(fileURLWithPath: path))
        let date = Date(timeIntervalSince1970: 1_772_366_400 - seconds)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    private static func notes(in folder: String) -> Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count
    }

    @Test("A policy passes once it has answered for ten seconds, or nobody has asked for a minute")
    func judges() {
        /// When a policy passes, by the seconds after which there were so many answers.
        func passed(_ looks: KeyValuePairs<Int, Int>) -> Int? {
            let start = ContinuousClock.now
            var judge = TrialJudge(version: Self.version, since: start, answered: 5)
            for (second, answered) in looks where judge.hasPassed(at: start + .seconds(second), answered: answered) {
                return second
            }
            return nil
        }
        #expect(passed([30: 5, 31: 6, 40: 9, 41: 9]) == 41)
        #expect(passed([30: 5, 59: 5, 60: 5]) == 60)
        #expect(passed([59: 6, 68: 6, 69: 6]) == 69)
        #expect(passed([1: 6, 10: 6]) == nil)
    }

    @Test("A policy is held back after two deaths within ten minutes, however long ago, and no other is")
    func holdsBack() throws {
        let cases: [(deaths: [(String, TimeInterval)], held: Bool)] = [
            ([], false), ([("seven", 0)], false), ([("seven", 0), ("six", 1)], false),
            ([("seven", 0), ("seven", 600)], true), ([("seven", 0), ("seven", 601)], false),
            ([("seven", 86_400), ("seven", 86_401)], true), ([("seven", 0), ("seven", 700), ("seven", 1_000)], true),
            ([("seven", 0), ("six", 10), ("seven", 20)], true),
        ]
        for (deaths, held) in cases {
            try withFolder { folder in
                for (token, seconds) in deaths { try Self.die(of: token, seconds, in: folder) }
                let trial = PolicyTrial(stateDirectory: folder)
                #expect(trial.holdsBack("seven") == held, "\(deaths)")
                #expect(!trial.holdsBack("six") && !trial.holdsBack("eight"))
            }
        }
    }

    @Test("A policy on trial at a server that lives is no death, and leaves nothing once it is over, however that is")
    func notesPolicies() throws {
        try withFolder { folder in
            let trial = PolicyTrial(stateDirectory: folder)
            let other = PolicyTrial(stateDirectory: folder)
            trial.begin(Self.version)
            other.begin(Self.version)
            #expect(Self.notes(in: folder) == 2)
            #expect(!PolicyTrial(stateDirectory: folder).holdsBack("seven"))
            other.stop()
            #expect(Self.notes(in: folder) == 1)
            let start = ContinuousClock.now
            trial.taken(Self.version, at: start, answered: 0)
            #expect(trial.look(at: start + .seconds(59), answered: 0) == nil)
            let next = PolicyVersion(revision: 8, token: "eight")
            trial.begin(next)
            trial.abandon(next)
            #expect(Self.notes(in: folder) == 1)
            trial.begin(next)
            #expect(Self.notes(in: folder) == 2)
            trial.taken(next, at: start + .seconds(59), answered: 0)
            #expect(Self.notes(in: folder) == 1)
            #expect(trial.look(at: start + .seconds(118), answered: 0) == nil)
            #expect(trial.look(at: start + .seconds(119), answered: 0) == next)
            #expect(Self.notes(in: folder) == 0)
            #expect(trial.look(at: start + .seconds(200), answered: 0) == nil)
        }
    }

    @Test("The deaths are forgotten once another policy has passed, and the oldest ones where there are many")
    func forgets() throws {
        try withFolder { folder in
            for number in 0..<40 { try Self.die(of: "seven", TimeInterval(number), in: folder) }
            let trial = PolicyTrial(stateDirectory: folder)
            #expect(trial.holdsBack("seven"))
            #expect(Self.notes(in: folder) == 32)
            trial.begin(Self.version)
            trial.forgetDeaths()
            #expect(Self.notes(in: folder) == 1)
            #expect(!PolicyTrial(stateDirectory: folder).holdsBack("seven"))
        }
    }

    @Test("A folder that cannot be written, or holds something else, keeps no policy from being taken")
    func toleratesFolders() throws {
        try withFolder { folder in
            try Data().write(to: URL(fileURLWithPath: "\(folder)/policy-trial.empty"))
            try FileManager.default.createDirectory(
                atPath: "\(folder)/policy-trial.folder",
                withIntermediateDirectories: true
            )
            for path in [folder, folder + "/none"] {
                let trial = PolicyTrial(stateDirectory: path)
                trial.begin(Self.version)
                trial.taken(Self.version, at: .now, answered: 0)
                #expect(!trial.holdsBack("seven"))
                trial.stop()
            }
        }
    }

    @Test("The policy that has passed is kept beside the newest one, and only if that is the one in the file")
    func keepsPassed() throws {
        try withFolder { folder in
            let file = LastGoodPolicyFile(stateDirectory: folder)
            var writer = LastGoodPolicyFileWriter(file)
            let seven = try ExamplePolicy.policy(revision: 7)
            let eight = try ExamplePolicy.policy(revision: 8)
            try file.keepAsPassed(seven.version)
            #expect(file.passed.occupant == .nothing)
            try writer.write(seven)
            try file.keepAsPassed(seven.version)
            try writer.write(eight)
            try file.keepAsPassed(seven.version)
            #expect(try file.read()?.revision == 8)
            #expect(try file.passed.read()?.revision == 7)
            try file.keepAsPassed(eight.version)
            #expect(try file.passed.read()?.revision == 8)
        }
    }
}

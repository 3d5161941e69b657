import Foundation
import PolicyStore
import Synchronization
import TestChecks
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Policy trial")
struct PolicyTrialTests {
    private static let version = PolicyVersion(revision: 7, token: "seven")

    private let place = TestFolder()
    private let folder: String

    init() throws { folder = try place.make() }

    /// Notes that a server has died so many seconds ago while it had a policy on trial.
    static func die(of token: String, _ seconds: TimeInterval, in folder: String) throws {
        let at = noon.advanced(byMicroseconds: -Int64(seconds * 1_000_000))
        try lines(in: folder, { $0 + ["\(token) \(at.microsecondsSince1970)"] })
    }

    /// The lines of the file of trials, after a change.
    @discardableResult
    private static func lines(in folder: String, _ change: ([String]) -> [String] = { $0 }) throws -> [String] {
        let path = folder + "/policy-trial"
        let before = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
        let lines = change(before)
        if lines != before { try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path)) }
        return lines
    }

    static let noon = Timestamp(microsecondsSince1970: 1_772_366_400_000_000)

    /// A clock that a test sets, by seconds since noon.
    final class Clock: Sendable {
        private let seconds = Mutex(0.0)

        func set(_ new: Double) { seconds.withLock { $0 = new } }

        func now() -> Timestamp {
            PolicyTrialTests.noon.advanced(byMicroseconds: Int64(seconds.withLock { $0 } * 1_000_000))
        }
    }

    private static func trial(_ folder: String, _ clock: Clock = Clock()) -> PolicyTrial {
        PolicyTrial(stateDirectory: folder, clock: { clock.now() })
    }

    /// Leaves a policy that has passed.
    private static func pass(_ revision: Int64, in folder: String) throws {
        let file = LastGoodPolicyFile(stateDirectory: folder)
        var writer = LastGoodPolicyFileWriter(file)
        let policy = try ExamplePolicy.policy(revision: revision)
        try writer.write(policy)
        try file.keepAsPassed(policy.version)
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

    @Test(
        "Two deaths of one policy, a second apart and within the last ten minutes, hold it back until the older is ten minutes ago",
        arguments: [
            ([], nil), ([("seven", 0)], nil), ([("seven", 0), ("six", 1)], nil), ([("seven", 0), ("seven", 0.9)], nil),
            ([("seven", 0), ("seven", 1)], 599), ([("seven", 0), ("seven", 600)], nil),
            ([("seven", 0), ("seven", 599)], 1), ([("seven", 0), ("seven", 601)], nil),
            ([("seven", 86_400), ("seven", 86_401)], nil), ([("seven", 0), ("seven", 700), ("seven", 701)], nil),
            ([("seven", 0), ("six", 10), ("seven", 20)], 580), ([("seven", 0), ("seven", 0.5), ("seven", 1.2)], 598.8),
            ([("seven", -1), ("seven", 1)], nil), ([("seven", -90_000), ("seven", -90_005)], nil),
            ([("seven", -5), ("seven", 1), ("seven", 3)], 597),
            ([("seven", 1_772_366_400), ("seven", 1_772_366_390)], nil),
        ] as [([(String, TimeInterval)], Double?)]
    )
    func holdsBack(_ deaths: [(String, TimeInterval)], _ seconds: Double?) throws {
        try Self.pass(3, in: folder)
        for (token, ago) in deaths { try Self.die(of: token, ago, in: folder) }
        let clock = Clock()
        let trial = Self.trial(folder, clock)
        let end = seconds.map { Self.noon.advanced(byMicroseconds: Int64($0 * 1_000_000)) }
        #expect(trial.heldUntil("seven") == end)
        #expect(trial.heldUntil("six") == nil && trial.heldUntil("eight") == nil)
        #expect((trial.fallback == nil) == (end == nil) && trial.fallback?.until == end)
        #expect(!trial.hasNoFallback)
        guard let seconds else { return }
        clock.set(seconds - 0.001)
        #expect(trial.heldUntil("seven") == end)
        clock.set(seconds)
        #expect(trial.heldUntil("seven") == nil && trial.fallback == nil)
        // Nor does a clock that is set back an hour make it last longer.
        clock.set(-3_600)
        #expect(trial.heldUntil("seven") == nil && trial.fallback == nil)
        clock.set(0)
        #expect(Self.trial(folder, clock).heldUntil("seven") == end)
        clock.set(seconds)
        #expect(Self.trial(folder, clock).heldUntil("seven") == nil)
    }

    @Test("What a server has on trial when it dies is a death, at the time at which it was last there")
    func notesDeaths() throws {
        try Self.pass(3, in: folder)
        let clock = Clock()
        for (begin, last) in [(0.0, 20.0), (30, 35)] {
            clock.set(begin)
            var server = Optional(Self.trial(folder, clock))
            server?.begin(Self.version)
            server?.taken(Self.version, at: .now, answered: 0)
            clock.set(last)
            #expect(server?.look(at: .now, answered: 0) == nil)
            server = nil
        }
        clock.set(100)
        let held = Self.trial(folder, clock).heldUntil("seven")
        #expect(held == Self.noon.advanced(byMicroseconds: 620_000_000))
    }

    @Test("Of two servers of one folder the first notes what it has on trial, so what ends both at once is one death")
    func countsServersTogether() throws {
        try Self.pass(3, in: folder)
        let clock = Clock()
        var servers = [Self.trial(folder, clock), Self.trial(folder, clock)]
        for server in servers { server.begin(Self.version) }
        #expect(try Self.lines(in: folder) == ["seven"])
        servers[1].stop()
        #expect(try Self.lines(in: folder) == ["seven"])
        #expect(Self.trial(folder, clock).heldUntil("seven") == nil)
        servers = []
        clock.set(5)
        #expect(Self.trial(folder, clock).heldUntil("seven") == nil)
        #expect(try Self.lines(in: folder) == ["seven \(Self.noon.microsecondsSince1970)"])
        // The second notes it once the first has gone.
        servers = [Self.trial(folder, clock), Self.trial(folder, clock)]
        servers.removeFirst()
        servers[0].begin(Self.version)
        servers = []
        #expect(Self.trial(folder, clock).heldUntil("seven") != nil)
    }

    @Test(
        "Where nothing older has passed, or servers died of it, too, the newest policy is taken",
        arguments: [
            ([], false, nil), ([7], false, nil), ([5, 7], false, nil), ([3, 7], true, 3), ([3, 5, 7], false, nil),
            ([3, 5], true, 3), ([3], true, 3), ([2, 3], true, 3),
        ] as [([Int64], Bool, Int64?)]
    )
    func takesTheNewest(passed: [Int64], isHeld: Bool, fallback: Int64?) throws {
        for revision in passed { try Self.pass(revision, in: folder) }
        for (number, token) in ["token-7", "token-7", "token-5", "token-5"].enumerated() {
            try Self.die(of: token, Double(number) * 2, in: folder)
        }
        let trial = Self.trial(folder)
        #expect((trial.heldUntil("token-7") != nil) == isHeld)
        #expect(trial.hasNoFallback == !isHeld)
        #expect(try trial.fallback?.file.read()?.revision == fallback)
        trial.holdNothingBack()
        #expect(trial.heldUntil("token-7") == nil && trial.fallback == nil)
    }

    @Test("A policy on trial at a server that lives is no death, and leaves nothing once it is over, however that is")
    func notesPolicies() throws {
        try Self.pass(3, in: folder)
        let trial = Self.trial(folder)
        trial.begin(Self.version)
        #expect(try Self.lines(in: folder) == ["seven"])
        let start = ContinuousClock.now
        trial.taken(Self.version, at: start, answered: 0)
        #expect(trial.look(at: start + .seconds(59), answered: 0) == nil)
        let next = PolicyVersion(revision: 8, token: "eight")
        trial.begin(next)
        trial.abandon(next)
        #expect(try Self.lines(in: folder) == ["seven"])
        trial.begin(next)
        #expect(try Self.lines(in: folder) == ["seven", "eight"])
        trial.taken(next, at: start + .seconds(59), answered: 0)
        #expect(try Self.lines(in: folder) == ["eight"])
        #expect(trial.look(at: start + .seconds(118), answered: 0) == nil)
        #expect(trial.look(at: start + .seconds(119), answered: 0) == next)
        #expect(try Self.lines(in: folder) == [])
        #expect(trial.look(at: start + .seconds(200), answered: 0) == nil)
        trial.begin(next)
        trial.stop()
        #expect(try Self.lines(in: folder) == [])
    }

    @Test("Deaths are forgotten once another policy has passed; those that do not count, or are many, at a start")
    func forgets() throws {
        try Self.pass(3, in: folder)
        for number in 0..<40 { try Self.die(of: "seven", TimeInterval(number), in: folder) }
        for seconds in [601.0, 1_000_000, -2] { try Self.die(of: "seven", seconds, in: folder) }
        let trial = Self.trial(folder)
        #expect(trial.heldUntil("seven") != nil)
        #expect(try Self.lines(in: folder).count == 32)
        trial.begin(Self.version)
        trial.forgetDeaths()
        #expect(try Self.lines(in: folder) == ["seven"])
        #expect(Self.trial(folder).heldUntil("seven") == nil)
    }

    @Test(
        "A folder that cannot be written, or holds something else, a pipe too, keeps no policy from being taken",
        arguments: ["none", "nonsense", "folder", "pipe", "device"]
    )
    func toleratesFolders(kind: String) throws {
        let path = folder + "/policy-trial"
        switch kind {
        case "nonsense": try Data("seven 1 2\n \nseven x\n\u{0}".utf8).write(to: URL(fileURLWithPath: path))
        case "folder": #expect(mkdir(path, 0o700) == 0)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "device": #expect(symlink("/dev/zero", path) == 0)
        default: break
        }
        for path in [folder, folder + "/none"] {
            let trial = Self.trial(path)
            trial.begin(Self.version)
            trial.taken(Self.version, at: .now, answered: 0)
            #expect(trial.heldUntil("seven") == nil)
            trial.stop()
        }
    }

    @Test("The policy that has passed is kept beside the newest one, and the one that had passed before it")
    func keepsPassed() throws {
        let file = LastGoodPolicyFile(stateDirectory: folder)
        var writer = LastGoodPolicyFileWriter(file)
        let policies = try (7...9).map { try ExamplePolicy.policy(revision: $0) }
        func passed() throws -> [Int64?] { try file.passed.map { try $0.read()?.revision } }
        try file.keepAsPassed(policies[0].version)
        #expect(try passed() == [nil, nil])
        try writer.write(policies[0])
        for _ in 1...2 { try file.keepAsPassed(policies[0].version) }
        #expect(try passed() == [7, nil])
        try writer.write(policies[1])
        try file.keepAsPassed(policies[0].version)
        #expect(try passed() == [7, nil])
        for _ in 1...2 { try file.keepAsPassed(policies[1].version) }
        #expect(try passed() == [8, 7])
        try writer.write(policies[2])
        try file.keepAsPassed(policies[1].version)
        try file.keepAsPassed(policies[2].version)
        #expect(try file.read()?.revision == 9)
        #expect(try passed() == [9, 8])
    }

    @Test("Only the policy that has passed is kept as such, also while another one is written in its place")
    func keepsNoOther() async throws {
        let file = LastGoodPolicyFile(stateDirectory: folder)
        let seven = try ExamplePolicy.policy(revision: 7)
        let eight = try ExamplePolicy.policy(revision: 8)
        var writer = LastGoodPolicyFileWriter(file)
        var contents: [Data] = []
        for policy in [seven, eight] {
            try writer.write(policy)
            contents.append(try Data(contentsOf: URL(fileURLWithPath: file.path)))
        }
        let both = contents
        let replacing = Task.detached {
            while !Task.isCancelled {
                for contents in both {
                    try contents.write(to: URL(fileURLWithPath: file.path + ".next"))
                    guard rename(file.path + ".next", file.path) == 0 else { throw CancellationError() }
                }
            }
        }
        var kept = 0
        for _ in 0..<20_000 where kept < 500 {
            unlink(file.passed[0].path)
            try file.keepAsPassed(seven.version)
            let occupant = file.passed[0].occupant
            #expect(occupant == .policy(seven.version) || occupant == .nothing)
            kept += occupant == .nothing ? 0 : 1
        }
        replacing.cancel()
        try await replacing.value
        // How often it met the same file twice is chance; left alone, it keeps it.
        try both[0].write(to: URL(fileURLWithPath: file.path))
        unlink(file.passed[0].path)
        try file.keepAsPassed(seven.version)
        #expect(file.passed[0].occupant == .policy(seven.version))
    }
}

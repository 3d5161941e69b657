import Foundation
import Postgres
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing

/// Random edits, kills, restarts, brakes and revisions that are held back, at three servers, two of which share a state
/// folder: no client is locked out by an answer that the newest policy would not lock out.
///
/// What the newest policy would do is asked of the database, with `messages_for`, after each edit. While an edit is on its
/// way to the servers, the policy before it counts, too.
@Suite("Stale lockouts", .whole, .migratedDatabase)
struct StaleLockoutTests {
    private static let example = """
        INSERT INTO apps (bundle) VALUES ('a');
        INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', '2020-01-01Z');
        """
    private static let keys = ["k0", "k1", "k2", "k3"]
    private static let ranges = ["<1.1", "<1.3", ">=1.1 <1.2", ">=1.2 <2", "<2", "=1.1"]
    private static let clients = (0..<12).map { number in
        #"{"bundle":"a","platform":"ios","version":"1.\#(number % 4)","install":"i\#(number)"}"#
    }

    /// The rules that lock out each client.
    private typealias Lockouts = [Set<String>]

    /// A server that may be killed and started again with its state folder.
    private final class Place: Sendable {
        private struct State {
            var server: ServingBinary?
            var isOver: AsyncStream<Never>.Continuation?
            var run: Task<ServingBinary.Ending, any Error>?
        }

        let folder: StateFolder
        private let state = Mutex(State())

        init(_ folder: StateFolder) { self.folder = folder }

        var server: ServingBinary? { state.withLock { $0.server } }

        func start() async throws {
            let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
            let (over, isOver) = AsyncStream.makeStream(of: Never.self)
            let binary = BuiltBinary(environment: [
                "DATABASE_URL": TestDatabase.current.url(user: "versiongate_server"),
                "VERSIONGATE_DEBUG_TRIAL_SECONDS": "0.3",
            ])
            let run = Task { [folder] in
                defer { isReady.finish() }
                return try await ServingBinary.run(
                    binary, arguments: ["--state-dir", folder.path], program: BuiltBinary.besideTests
                ) { server in
                    self.state.withLock { $0.server = server }
                    isReady.finish()
                    for await _ in over {}
                }
            }
            state.withLock { ($0.run, $0.isOver) = (run, isOver) }
            for await _ in ready {}
            guard server != nil else {
                _ = try await run.value
                throw ServingBinaryError.endedBeforeItWasReady
            }
        }

        /// Ends the server by a signal, and waits until it has ended.
        func end(by signal: Int32) async throws {
            let (server, isOver, run) = state.withLock { state in
                defer { state = State() }
                return (state.server, state.isOver, state.run)
            }
            guard let server, let run else { return }
            kill(server.processIdentifier, signal)
            isOver?.finish()
            _ = try await run.value
        }

        func brake(on isOn: Bool) {
            let path = folder.path + "/brake"
            if isOn { _ = FileManager.default.createFile(atPath: path, contents: nil) } else { unlink(path) }
        }
    }

    /// What came of it all.
    private struct Outcome {
        var answers = 0
        var lockouts = 0
        var wrong: [String] = []
        var edits = 0
        var refusals = 0
        var kills = 0
        var standIns = 0
        var braked = 0

        /// Whether there was what the run is about.
        var isTelling: Bool { lockouts > 0 && kills > 0 && edits > 0 }
    }

    /// One answer of a check.
    private struct Answer {
        let client: Int
        let revision: String
        let lockouts: Set<String>
    }

    /// Asks for some clients over one connection.
    private static func ask(_ server: ServingBinary, _ clients: [Int]) async throws -> [Answer] {
        let requests = clients.enumerated().map { place, client in
            let body = Self.clients[client]
            let end = place + 1 == clients.count ? "Connection: close\r\n" : ""
            return "POST /v1/check HTTP/1.1\r\nHost: a\r\n\(end)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        let text = try await PlainConnection.answer(server.publicURL, to: requests.joined())
        let answers = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
        guard answers.count == clients.count else { throw ServingBinaryError.unexpectedAnswer(text) }
        return try zip(clients, answers).map { client, answer in
            let parts = answer.components(separatedBy: "\r\n\r\n")
            guard answer.hasPrefix("200 "), parts.count == 2 else { throw ServingBinaryError.unexpectedAnswer(answer) }
            let object = try JSONSerialization.jsonObject(with: Data(parts[1].utf8)) as? [String: Any]
            let messages = try #require(object?["messages"] as? [[String: Any]])
            let revision = parts[0].components(separatedBy: "\r\n").first {
                $0.lowercased().hasPrefix("policy-revision:")
            }
            return Answer(
                client: client, revision: revision ?? "no revision",
                lockouts: Set(messages.filter { $0["lockout"] as? Bool == true }.compactMap { $0["id"] as? String })
            )
        }
    }

    /// What the newest policy would do, and its revision.
    private static func newest(_ owner: PostgresConnection) async throws -> (Int64, Lockouts) {
        let revision = try await owner.query("SELECT revision FROM policy_revision").value(as: Int64.self)
        let rows = try await owner.query(
            """
            SELECT c.place::int4, m.id
            FROM unnest($1::text[]) WITH ORDINALITY AS c (client, place), messages_for(c.client::jsonb) AS m
            WHERE m.lockout
            """,
            [clients]
        )
        var lockouts = Lockouts(repeating: [], count: clients.count)
        for row in rows {
            lockouts[Int(try row.decode(0, as: Int32.self)) - 1].insert(try row.decode(1, as: String.self))
        }
        return (revision, lockouts)
    }

    private static func edit(_ random: inout SeededGenerator) -> String {
        let key = random.pick(keys)
        let rule = """
            INSERT INTO rules (key, bundle, versions, enabled, lockout, title, text, link)
            VALUES ('\(key)', 'a', '\(random.pick(ranges))', true, true, 't', 'x', 'https://a.example')
            """
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: return rule
        case 3: return "DELETE FROM rules WHERE key = '\(key)'"
        case 4: return "UPDATE rules SET lockout = NOT lockout WHERE key = '\(key)'"
        case 5: return "UPDATE rules SET enabled = NOT enabled WHERE key = '\(key)'"
        case 6: return "UPDATE rules SET versions = '\(random.pick(ranges))' WHERE key = '\(key)'"
        case 7: return "SELECT brake_rule('\(key)', '\(random.pick(["lockout", "disable"]))', 'a trial')"
        case 8: return "UPDATE apps SET paused = NOT paused"
        case 9: return "UPDATE rules SET rollout = \(random.pick([0, 50, 100])) WHERE key = '\(key)'"
        default: return "SELECT undo_change(revision) FROM policy_revision"
        }
    }

    /// A fleet, the policy that is newest, and what came of it.
    private struct Run {
        let owner: PostgresConnection
        let places: [Place]
        var random: SeededGenerator
        var outcome = Outcome()
        var revision: Int64 = 0
        var lockouts = Lockouts(repeating: [], count: StaleLockoutTests.clients.count)
        /// Those of the policies before, which may still answer.
        var before: [Lockouts] = []

        /// Holds answers to the newest policy, and to others that may still answer.
        mutating func ask(_ count: Int, _ place: Place, orBy others: [Lockouts]) async throws {
            guard let server = place.server else { return }
            let clients = (0..<count).map { _ in Int.random(in: StaleLockoutTests.clients.indices, using: &random) }
            for answer in try await StaleLockoutTests.ask(server, clients) {
                outcome.answers += 1
                outcome.lockouts += answer.lockouts.isEmpty ? 0 : 1
                let allowed = others.reduce(lockouts[answer.client]) { $0.union($1[answer.client]) }
                if !answer.lockouts.isSubset(of: allowed) {
                    outcome.wrong.append(
                        "\(StaleLockoutTests.clients[answer.client]): \(answer.lockouts) by \(answer.revision), newest"
                            + " \(revision): \(lockouts[answer.client])"
                    )
                }
            }
        }

        /// Makes an edit; it may be refused.
        mutating func edit() async throws {
            before.append(lockouts)
            do {
                _ = try await owner.query(StaleLockoutTests.edit(&random))
                outcome.edits += 1
            } catch let error as PostgresError where error.code == .server {
                outcome.refusals += 1
            }
            (revision, lockouts) = try await StaleLockoutTests.newest(owner)
            for place in places { try await ask(4, place, orBy: before) }
        }

        /// Waits until a server answers by the newest policy, or says that it is held back.
        mutating func settle(_ place: Place) async throws {
            guard let server = place.server else { return }
            let revision = revision
            let ready = try await server.ready {
                $0.contains(#""revision":\#(revision),"#) || $0.contains(#""heldBackRevision":\#(revision),"#)
            }
            #expect(ready.status == 200)
            outcome.standIns += ready.body.contains("heldBackRevision") ? 1 : 0
            outcome.braked += ready.body.contains(#""brake":"#) ? 1 : 0
        }

        /// Kills the server, has edits made meanwhile or none, and starts it again.
        mutating func kill(_ place: Place, edits: Int) async throws {
            try await place.end(by: random.chance(80) ? SIGKILL : SIGTERM)
            outcome.kills += 1
            for _ in 0..<edits { try await edit() }
            try place.folder.age(by: 5)
            try await place.start()
            // Where the database took longer than a start waits for it, the policy on disk answers until it is there.
            let ready = try await place.server?.management("/ready").body ?? ""
            if ready.contains(#""source":"file""#), !ready.contains("lockoutsOff") { try await settle(place) }
            try await ask(20, place, orBy: [])
        }

        mutating func step() async throws {
            let place = random.pick(places)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4: try await edit()
            case 5: place.brake(on: random.chance(50))
            case 6: try await kill(place, edits: Int.random(in: 0...2, using: &random))
            case 7: for place in places { try await kill(place, edits: 0) }
            default:
                // An edit that is followed by two deaths, at once; it often takes a lockout away.
                try await edit()
                for _ in 0..<2 { try await kill(place, edits: 0) }
            }
            for place in places {
                try await settle(place)
                try await ask(40, place, orBy: [])
            }
            before = []
        }
    }

    @Test("No client is locked out by an answer that the newest policy, or it with the brake on, would not lock out")
    func locksOutNobodyByAnOlderPolicy() async throws {
        let owner = try await TestDatabase.current.connect()
        try await owner.execute(Self.example)
        try await ServerPlaces.take {
            try await Self.run(owner)
        }
    }

    private static func run(_ owner: PostgresConnection) async throws {
        try await StateFolder.with { shared in
            try await StateFolder.with { own in
                let places = [Place(shared), Place(shared), Place(own)]
                var run = Run(owner: owner, places: places, random: SeededGenerator())
                print("stale lockouts: VERSIONGATE_SEED=\(run.random.seed) repeats this")
                let result: Result<Void, any Error>
                do {
                    for place in places { try await place.start() }
                    try await run.edit()
                    // What the run is about comes by chance: few answers may have had none of it.
                    var most: Int { run.outcome.isTelling ? LoadedChecks.count : 50_000 }
                    while run.outcome.wrong.isEmpty, run.outcome.answers < most { try await run.step() }
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                for place in places { try await place.end(by: SIGKILL) }
                print("stale lockouts: \(run.outcome)")
                try result.get()
                #expect(run.outcome.wrong.isEmpty)
                #expect(run.outcome.isTelling)
                if LoadedChecks.count >= 20_000 { #expect(run.outcome.standIns > 0 && run.outcome.braked > 0) }
            }
        }
    }
}

import PolicyStore
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Follower state")
struct FollowerStateTests {
    /// Events at a time in seconds, each with what is noted, and the operation that follows.
    private typealias Table = [(
        at: Int64, event: FollowerState.Event, notes: [FollowerState.Note], next: FollowerState.Operation
    )]

    /// Random bits that are all set, so that the jitter is nothing.
    private struct NoJitter: RandomNumberGenerator {
        func next() -> UInt64 { .max }
    }

    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(microsecondsSince1970: seconds * 1_000_000) }

    private static func version(_ revision: Int64, _ token: String) -> PolicyVersion {
        PolicyVersion(revision: revision, token: token)
    }

    private static func read(_ version: PolicyVersion, answering: PolicyVersion? = nil) -> FollowerState.Event {
        .version(version, answering: answering, after: .milliseconds(1))
    }

    private static let first = version(1, "a")
    private static let read1 = FollowerState.Operation.readVersion(within: .seconds(1))
    private static let wait = FollowerState.Operation.wait(upTo: .milliseconds(900))
    private static let poll = FollowerState.Operation.wait(upTo: .milliseconds(500))

    /// Connects to a primary that notifies, and loads its first policy.
    private static let begin: Table = [
        (0, .connected(isStandby: false), [.connected], .detectPooler),
        (0, .pooler(isPresent: false), [], .listen),
        (0, .listening, [.following(.notifications)], read1),
        (0, read(first), [], .load),
        (0, .loaded(first), [], wait),
    ]

    /// A new machine that has handled all events of a table.
    @discardableResult
    private func run(_ table: Table, sourceLocation: SourceLocation = #_sourceLocation) -> FollowerState {
        var state = FollowerState()
        var generator = NoJitter()
        #expect(state.operation == .connect(after: .zero), sourceLocation: sourceLocation)
        for (row, line) in table.enumerated() {
            let notes = state.handle(line.event, at: Self.time(line.at), using: &generator)
            #expect(notes == line.notes, "row \(row)", sourceLocation: sourceLocation)
            Self.expect(state.operation, line.next, row, sourceLocation)
        }
        return state
    }

    /// Compares operations; the jitter of a wait is rounded by floating-point numbers.
    private static func expect(
        _ operation: FollowerState.Operation,
        _ expected: FollowerState.Operation,
        _ row: Int,
        _ sourceLocation: SourceLocation
    ) {
        if case .connect(let delay) = operation, case .connect(let expectedDelay) = expected {
            let difference = delay - expectedDelay
            #expect(abs(difference / .seconds(1)) < 0.000_001, "row \(row)", sourceLocation: sourceLocation)
        } else {
            #expect(operation == expected, "row \(row)", sourceLocation: sourceLocation)
        }
    }

    @Test("The follower connects, asks for notifications, loads the policy and waits, and loads again what is new")
    func follows() {
        run(
            Self.begin + [
                (1, .waited(isStandby: false), [], Self.read1),
                (1, Self.read(Self.first), [.upToDate], Self.wait),
                (2, .waited(isStandby: false), [], Self.read1),
                (2, Self.read(Self.version(2, "b")), [], .load),
                (2, .loaded(Self.version(2, "b")), [], Self.wait),
            ]
        )
    }

    @Test("The follower polls twice a second where no notification can come, and asks again when a standby is promoted")
    func polls() {
        run([
            (0, .connected(isStandby: true), [.connected, .following(.noneOnStandby)], Self.read1),
            (0, Self.read(Self.first), [], .load),
            (0, .loaded(Self.first), [], Self.poll),
            (1, .waited(isStandby: true), [], Self.read1),
            (1, Self.read(Self.first), [.upToDate], Self.poll),
            (2, .waited(isStandby: false), [], .detectPooler),
            (2, .pooler(isPresent: true), [.following(.noneThroughPooler)], Self.read1),
            (2, Self.read(Self.first), [.upToDate], Self.poll),
            (3, .waited(isStandby: false), [], Self.read1),
        ])
        run([
            (0, .connected(isStandby: false), [.connected], .detectPooler),
            (0, .pooler(isPresent: false), [], .listen),
            (0, .listenRefused("no"), [.notificationsRefused("no"), .following(.refused)], Self.read1),
            (0, Self.read(Self.first), [], .load),
            (0, .loaded(Self.first), [], Self.poll),
        ])
    }

    @Test(
        "The follower connects anew with twice the delay each time, and asks for notifications again on a new connection"
    )
    func backsOff() {
        func lost(_ failure: FollowerState.Failure) -> [FollowerState.Note] {
            [.failure(failure, reason: "x"), .disconnected]
        }
        let down = FollowerState.Event.failed(reason: "x", isConnectionUsable: false)
        let delays: [Int] = [50, 100, 200, 400, 800, 1_000, 1_000]
        run(delays.map { (0, down, lost(.connecting), .connect(after: .milliseconds($0))) })
        run(
            Self.begin + [
                (1, down, lost(.connection), .connect(after: .milliseconds(50))),
                (1, down, lost(.connecting), .connect(after: .milliseconds(100))),
                (2, .connected(isStandby: false), [.connected], .detectPooler),
                (2, down, lost(.connection), .connect(after: .milliseconds(50))),
                (3, .connected(isStandby: false), [.connected], .detectPooler),
                (3, .pooler(isPresent: false), [], .listen),
                (3, .listening, [.following(.notifications)], Self.read1),
                (3, Self.read(Self.first), [.upToDate], Self.wait),
            ]
        )
    }

    @Test("The follower keeps a connection on which only the load failed, and gives up one on which anything else did")
    func keepsUsableConnections() {
        let fault = FollowerState.Event.failed(reason: "x", isConnectionUsable: true)
        let notLoaded: [FollowerState.Note] = [.failure(.loading, reason: "x")]
        let broken: [FollowerState.Note] = [.failure(.connection, reason: "x"), .disconnected]
        run(
            Self.begin + [
                (1, .waited(isStandby: false), [], Self.read1),
                (1, fault, notLoaded, Self.wait),
                (2, .waited(isStandby: false), [], Self.read1),
                (2, Self.read(Self.version(2, "b")), [], .load),
                (2, fault, notLoaded, Self.wait),
                (3, fault, broken, .connect(after: .milliseconds(50))),
            ]
        )
    }

    @Test("The follower waits longer for the version after an answer that was slow, and after one that did not come")
    func adaptsTheTimeout() {
        let timeout = FollowerState.Event.failed(reason: "x", isConnectionUsable: false, isTimeout: true)
        let broken: [FollowerState.Note] = [.failure(.connection, reason: "x"), .disconnected]
        run(
            Self.begin + [
                (1, .waited(isStandby: false), [], Self.read1),
                (1, .version(Self.first, answering: nil, after: .milliseconds(600)), [.upToDate], Self.wait),
                (2, .waited(isStandby: false), [], .readVersion(within: .milliseconds(2_400))),
                (2, timeout, broken, .connect(after: .milliseconds(50))),
                (
                    3, .connected(isStandby: true), [.connected, .following(.noneOnStandby)],
                    .readVersion(within: .milliseconds(4_800))
                ),
            ]
        )
    }

    @Test("The follower does not try again what cannot be compiled, until it is edited")
    func rejects() {
        let second = Self.version(2, "b")
        run(
            Self.begin + [
                (1, .waited(isStandby: false), [], Self.read1),
                (1, Self.read(second), [], .load),
                (1, .rejected(second, reason: "x"), [.failure(.compiling, reason: "x", rejected: 2)], Self.wait),
                (2, .waited(isStandby: false), [], Self.read1),
                (2, Self.read(second), [], Self.wait),
                (3, .waited(isStandby: false), [], Self.read1),
                (3, Self.read(Self.version(3, "c")), [], .load),
            ]
        )
    }

    @Test("The follower takes no policy that is held back, takes it once it is not, and any other at once")
    func holdsBack() {
        let second = Self.version(2, "b")
        let held = FollowerState.Event.heldBack(second, until: Self.time(600), after: .milliseconds(1))
        let note = FollowerState.Note.heldBack(second, until: Self.time(600))
        let begin = Array(Self.begin.prefix(3)) + [(0, held, [note], Self.wait)]
        for next in [second, Self.version(3, "c"), Self.version(2, "c")] {
            run(
                begin + [
                    (1, .waited(isStandby: false), [], Self.read1),
                    (1, held, [note], Self.wait),
                    (2, .waited(isStandby: false), [], Self.read1),
                    (2, Self.read(next, answering: Self.first), [], .load),
                    (2, .loaded(next), [], Self.wait),
                ]
            )
        }
    }

    @Test("The follower takes a lower revision of a primary after 2 seconds, and asks whether it is one only then")
    func takesLowerRevisions() {
        let answering = Self.version(7, "z")
        let lower = Self.version(6, "b")
        let begin = Array(Self.begin.prefix(3))
        run(
            begin + [
                (0, Self.read(lower, answering: answering), [], .detectPrimary),
                (0, .primary(true), [], Self.wait),
                (1, .waited(isStandby: false), [], Self.read1),
                (1, Self.read(lower, answering: answering), [], .detectPrimary),
                (1, .primary(true), [], Self.wait),
                (2, .waited(isStandby: false), [], Self.read1),
                (2, Self.read(lower, answering: answering), [], .detectPrimary),
                (2, .primary(true), [], .load),
                (2, .loaded(lower), [], Self.wait),
            ]
        )
    }

    @Test("The follower tells when it takes the empty policy of a database in which nothing was ever edited")
    func tellsOfUneditedDatabases() {
        let answering = Self.version(7, "z")
        let empty = Self.version(0, "b")
        let note = FollowerState.Note.unedited(takenAt: Self.time(300))
        run(
            Self.begin.prefix(3) + [
                (0, Self.read(empty, answering: answering), [], .detectPrimary),
                (0, .primary(true), [note], Self.wait),
                (299, .waited(isStandby: false), [], Self.read1),
                (299, Self.read(empty, answering: answering), [], .detectPrimary),
                (299, .primary(true), [note], Self.wait),
                (300, .waited(isStandby: false), [], Self.read1),
                (300, Self.read(empty, answering: answering), [], .detectPrimary),
                (300, .primary(true), [], .load),
            ]
        )
    }

    @Test("The follower may stand longest where it connects, and no longer than half a minute where it only asks")
    func hasLimits() {
        let limits: [(FollowerState.Operation, Int64)] = [
            (.connect(after: .zero), 600), (.load, 120), (.detectPooler, 30), (.listen, 30), (Self.read1, 30),
            (.detectPrimary, 30), (Self.wait, 30),
        ]
        for (operation, seconds) in limits { #expect(operation.timeLimit == .seconds(seconds)) }
    }
}

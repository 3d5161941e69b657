import Foundation

@testable import VersionGateClient

/// A message as the policy of the simulation has it.
struct SimulatedMessage: Sendable, Equatable {
    /// Its own, unlike its id and target; sent as the title.
    var number: Int
    var id: String
    var target: String?
    var remind: Int?
    var shows: Int?
    var canSkip = false
    var isLockout = false
    var from: Int
    var until: Int
    /// Versions of the app that it is sent to; nil: each.
    var version: String?

    /// What a device remembers it by.
    var key: String { "\(id)|\(target ?? "-")" }
    var hasHints: Bool { !isLockout && (remind != nil || shows != nil || canSkip) }

    var json: String {
        var members = [#""id":"\#(id)","title":"\#(number)","text":"X""#]
        if let target { members.append(#""target":"\#(target)""#) }
        if let remind { members.append(#""remind":\#(remind)"#) }
        if let shows { members.append(#""shows":\#(shows)"#) }
        if canSkip { members.append(#""skip":true"#) }
        if isLockout { members.append(#""lockout":true"#) }
        return "{" + members.joined(separator: ",") + "}"
    }
}

/// An installation, the person who uses it, its network and its server, for 90 days.
final class SimulatedDevice {
    /// How often what has happened.
    struct Counts: CustomStringConvertible {
        var starts = 0
        var all = [
            "checks": 0, "questions": 0, "answers": 0, "failures": 0, "shown": 0, "lockouts": 0, "kept lockouts": 0,
            "closed": 0, "skipped": 0, "hidden by shows": 0, "hidden by remind": 0, "hidden by skip": 0, "forgotten": 0,
            "clocks changed": 0, "storage lost": 0, "storage full": 0, "updates": 0,
        ]

        mutating func add(_ other: Counts) {
            starts += other.starts
            all.merge(other.all, uniquingKeysWith: +)
        }

        var description: String {
            "\(starts) starts, "
                + all.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
    }

    private(set) var counts = Counts()
    /// What the library did that the judge does not allow.
    private(set) var fault: String?
    var starts: Int { counts.starts }

    private var random: SeededGenerator
    private let policy: [SimulatedMessage]
    private let maximumAge: Int
    private let network = SimulatedNetwork()
    private let storage = SimulatedStorage()
    private let clock: Locked<Int>
    private var version = 1
    private var judge = SimulationJudge()

    private static let day = 86_400
    private static let origin = 1_790_000_000

    init(random: SeededGenerator) {
        var random = random
        policy = (0..<Int.random(in: 1...8, using: &random)).map { Self.message($0, &random) }
        maximumAge = random.one(of: [7, 7, 7, 0, 1, 30, 90])
        clock = Locked(Self.origin)
        self.random = random
    }

    private static func message(_ number: Int, _ random: inout SeededGenerator) -> SimulatedMessage {
        let from = origin + Int.random(in: -30...80, using: &random) * day
        var message = SimulatedMessage(
            number: number, id: random.one(of: ["a", "b", "c", "d"]), target: random.one(of: [nil, nil, "2", "3"]),
            from: from, until: from + Int.random(in: 1...80, using: &random) * day,
            version: random.happens(0.5) ? nil : "\(Int.random(in: 1...3, using: &random))"
        )
        message.isLockout = random.happens(0.15)
        if !message.isLockout {
            if random.happens(0.4) { message.remind = random.one(of: [1, 60, 3_600, day, 7 * day, 1 << 50]) }
            if random.happens(0.4) { message.shows = random.one(of: [1, 1, 2, 3, 20]) }
            message.canSkip = random.happens(0.4)
        }
        return message
    }

    /// Lives until the 90 days are over, or until a fault.
    func live() async throws {
        let end = Self.origin + 90 * Self.day
        var trueTime = Self.origin
        while trueTime < end, fault == nil {
            let pause = pause()
            trueTime += pause
            clock.withLock { $0 += pause }
            if random.happens(0.03) {
                let change = Int.random(in: -400 * Self.day...400 * Self.day, using: &random)
                clock.withLock { $0 = max(0, $0 + change) }
                counts.all["clocks changed", default: 0] += 1
            } else if random.happens(0.05) {
                clock.withLock { $0 = trueTime }
            }
            try await start()
        }
    }

    /// How long the app is not used: any time, or just the time of a hint or of a bound, or a second beside it.
    private func pause() -> Int {
        if random.happens(0.2) {
            let bound = random.one(of: [1, 60, 3_600, Self.day, 7 * Self.day, max(1, maximumAge) * Self.day])
            return bound + random.one(of: [-1, 0, 0, 1])
        }
        return Int(-log(Double.random(in: 0.000_001..<1, using: &random)) * 60_000)
    }

    private func start() async throws {
        counts.starts += 1
        if random.happens(0.02) {
            version += 1
            counts.all["updates", default: 0] += 1
        }
        storage.isFull = random.happens(storage.isFull ? 0.5 : 0.02)
        if storage.isFull { counts.all["storage full", default: 0] += 1 }
        if random.happens(0.005) {
            storage.text = random.one(of: [nil, "", "{", "[]", #"{"messages":7}"#])
            judge.storageIsLost()
            counts.all["storage lost", default: 0] += 1
        }
        judge.starts()
        let gate = try VersionGate(
            server: GateTests.server, app: AppDescription(bundle: "com.example.doto", version: "\(version)"),
            attributes: [:], maximumAge: maximumAge, storage: storage, transport: network,
            clock: { [clock] in Date(timeIntervalSince1970: Double(clock.withLock { $0 }) + 0.9) }, observer: { _ in },
            alarm: network.setAlarm
        )
        await check(gate, force: random.happens(0.1))
        while fault == nil, random.happens(0.4) {
            let step = random.one(of: [0, 1, 30, 899, 900, 901, 5_000, -1, -2_000])
            clock.withLock { $0 = max(0, $0 + step) }
            if random.happens(0.02) {
                gate.forget()
                judge.forgets()
                counts.all["forgotten", default: 0] += 1
            }
            await check(gate, force: random.happens(0.3))
        }
        await gate.finishWriting()
        judge.writes(isFull: storage.isFull)
    }

    // MARK: A check

    private func check(_ gate: VersionGate, force: Bool) async {
        let now = clock.withLock { $0 }
        let sent = policy.filter { message in
            message.from <= now && now < message.until && (message.version ?? "\(version)") == "\(version)"
        }
        let isUp = random.happens(0.75)
        network.answer = isUp ? .messages(sent) : random.one(of: SimulatedNetwork.failures)
        let asked = network.questions
        let messages = await gate.check(force: force)
        let asks = network.questions - asked
        counts.all["checks", default: 0] += 1
        counts.all["questions", default: 0] += asks
        let shown = messages.map { Shown(title: $0.title, id: $0.id, target: $0.target, isLockout: $0.isLockout) }
        do throws(SimulationJudge.Fault) {
            try judge.judgeAsking(asks, force: force, at: now)
            if asks == 1 && isUp {
                counts.all["answers", default: 0] += 1
                let hidden = try judge.judgeAnswer(sent, shown: shown, at: now, version: version, keeps: maximumAge > 0)
                for reason in hidden { counts.all["hidden by \(reason)", default: 0] += 1 }
            } else {
                counts.all["failures", default: 0] += asks
                try judge.judgeWithoutAnswer(shown: shown, at: now, version: version, maximumAge: maximumAge)
                counts.all["kept lockouts", default: 0] += shown.count
            }
            judge.writes(isFull: storage.isFull)
        } catch {
            fault = "\(error.description), at \(now - Self.origin) s, after \(judge.log.suffix(20))"
            return
        }
        counts.all["shown", default: 0] += shown.count
        counts.all["lockouts", default: 0] += shown.filter(\.isLockout).count
        for message in messages { await use(message, of: gate, sent: sent) }
    }

    /// What the person does with a message.
    private func use(_ message: Message, of gate: VersionGate, sent: [SimulatedMessage]) async {
        let deed = Int.random(in: 0..<6, using: &random)
        guard deed < 4 else { return }
        clock.withLock { $0 += Int.random(in: 0...120, using: &random) }
        let now = clock.withLock { $0 }
        let isSkipped: Bool
        switch deed {
        case 0:
            message.skip()
            isSkipped = true
        case 1:
            message.opened()
            isSkipped = false
        default:
            message.dismiss()
            isSkipped = false
        }
        if let meant = sent.first(where: { "\($0.number)" == message.title }),
            judge.uses(meant, isSkipped: isSkipped && meant.canSkip, at: now)
        {
            counts.all[isSkipped && meant.canSkip ? "skipped" : "closed", default: 0] += 1
        }
        await gate.finishWriting()
        judge.writes(isFull: storage.isFull)
    }
}

/// What a check gave.
struct Shown: Sendable, Equatable {
    var title: String
    var id: String
    var target: String?
    var isLockout: Bool

    func isOf(_ message: SimulatedMessage) -> Bool {
        title == "\(message.number)" && id == message.id && target == message.target && isLockout == message.isLockout
    }
}

/// The network of a device.
final class SimulatedNetwork: GateTransport {
    enum Answer: Sendable {
        case messages([SimulatedMessage])
        case unreachable, stall, large
        case response(status: Int, body: String)
    }

    static let failures: [Answer] =
        Array(repeating: .unreachable, count: 60) + Array(repeating: .stall, count: 20) + [.large]
        + [
            (200, "<html>Welcome</html>"), (200, ""), (200, "{}"), (200, "[]"), (200, #"{"messages":{}}"#),
            (200, #"{"messages":[{"id":"a","title":"T","text":"X"}"#), (500, #"{"messages":[]}"#),
            (302, #"{"messages":[]}"#), (204, ""), (503, "Busy"),
        ].map { .response(status: $0.0, body: $0.1) }

    private struct State {
        var answer = Answer.unreachable
        var questions = 0
        var ring: (@Sendable () -> Void)?
    }

    private struct Failure: Error {}

    private let state = Locked(State())

    var answer: Answer {
        get { state.withLock { $0.answer } }
        set { state.withLock { $0.answer = newValue } }
    }

    var questions: Int { state.withLock { $0.questions } }

    var setAlarm: VersionGate.Alarm {
        { seconds, ring in if seconds == 2 { self.state.withLock { $0.ring = ring } } }
    }

    func response(to request: GateRequest) async throws -> GateResponse {
        let state = state.withLock { state in
            state.questions += 1
            return state
        }
        switch state.answer {
        case .messages(let messages):
            let body = #"{"messages":[\#(messages.map(\.json).joined(separator: ","))]}"#
            return GateResponse(status: 200, body: Data(body.utf8))
        case .response(let status, let body):
            return GateResponse(status: status, body: Data(body.utf8))
        case .large:
            return GateResponse(
                status: 200,
                body: Data(#"{"messages":[]}"#.utf8) + Data(repeating: 0x20, count: 1 << 20)
            )
        case .unreachable:
            throw Failure()
        case .stall:
            state.ring?()
            // Nothing comes. It ends when it is given up.
            while !Task.isCancelled { await Task.yield() }
            throw Failure()
        }
    }
}

/// The storage of a device.
final class SimulatedStorage: GateStorage {
    private struct Failure: Error {}

    private let state = Locked<(text: String?, isFull: Bool)>((nil, false))

    var text: String? {
        get { state.withLock { $0.text } }
        set { state.withLock { $0.text = newValue } }
    }

    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    func read() -> String? { text }

    func write(_ text: String?) throws {
        if isFull && text != nil { throw Failure() }
        self.text = text
    }
}

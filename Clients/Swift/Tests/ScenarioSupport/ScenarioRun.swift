package import Foundation
package import VersionGateClient

/// The server of a scenario: one in memory, or a real one.
package protocol ScenarioServer: Sendable {
    /// What carries questions to it.
    var transport: any GateTransport { get }

    /// A gate that asks it.
    func gate(_ settings: GateSettings) throws -> VersionGate

    /// The app is another from now on.
    func use(_ app: [String: JSON]) async throws

    /// From now on the server answers so.
    func answer(_ answer: ServerAnswer) async throws

    /// From now on, until ``release()``, no answer comes.
    func hold()

    /// Answers that were held come.
    func release()

    /// The bodies that have come since it was last asked for them; nil if it cannot know.
    func requests(asked: Bool) async throws -> [JSON]?
}

/// What a gate is made with.
package struct GateSettings: Sendable {
    package let app: AppDescription
    package let attributes: [String: AttributeValue]
    package let maximumAge: Int
    package let publicKeys: [String]
    package let storage: any GateStorage
    package let transport: any GateTransport
    package let clock: @Sendable () -> Date
    package let observer: @Sendable (CheckReport) -> Void
    /// Takes what rings when storage has had its time: a stuck one rings it.
    package let setStorageAlarm: @Sendable (_ ring: @escaping @Sendable () -> Void) -> Void
}

/// The run of a scenario: its app, its storage, its clock, and what has been seen so far.
package struct ScenarioRun {
    private let server: any ScenarioServer
    private let storage = ScenarioStorage()
    private let time = Locked(1_790_000_000)
    private let transport: RecordingTransport
    private let reports = Locked<[CheckReport]>([])
    /// Whether an answer was too late for a check, of which a busy machine may be the cause.
    private let wasLate = Locked(false)
    private var app: [String: JSON]
    private var gate: VersionGate?
    private var messages: [Message] = []
    private var installs: [String] = []

    /// A step that differs, counted from 1.
    package struct Failure: Error, CustomStringConvertible {
        package let step: Int
        package let why: String

        package var description: String { "step \(step): \(why)" }
    }

    /// What the observer is told of such an answer.
    private static let tooLate = "no answer within 2 seconds"

    /// What is wrong with a step.
    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private init(_ scenario: Scenario, on server: any ScenarioServer) {
        self.server = server
        app = scenario.app
        transport = RecordingTransport(next: server.transport)
    }

    /// Runs a scenario to its end; throws at the first step that differs.
    package static func run(_ scenario: Scenario, on server: any ScenarioServer) async throws {
        var run = ScenarioRun(scenario, on: server)
        for (index, step) in scenario.steps.enumerated() {
            do {
                for part in step { try await run.take(part) }
            } catch let difference as Difference {
                let late = run.wasLate.withLock(\.self) ? " (\(Self.tooLate))" : ""
                throw Failure(step: index + 1, why: difference.description + late)
            }
        }
    }

    private mutating func take(_ step: Scenario.Step) async throws {
        switch step {
        case .start(let members): try await start(members)
        case .preview(let answer, let isRefused): try await preview(answer, isRefused: isRefused)
        case .set(let members): try set(members)
        case .advance(let seconds): time.withLock { $0 += seconds }
        case .answer(let answer): try await server.answer(answer)
        case .check(let expected): try await check(expected)
        case .dismiss(let id): try message(id).dismiss()
        case .skip(let id): try message(id).skip()
        case .open(let id, let opens):
            let opened = try message(id).opened()?.absoluteString
            try expect("opened", JSON(opened), JSON(opens))
        case .fields(let expected): try await fields(expected)
        case .forget: try current.forget()
        case .storage(let change):
            await finishWriting()
            storage.change(change)
        case .stored(let expected):
            await finishWriting()
            try expectStored(expected)
        case .same, .other:
            guard installs.count > 1 else { throw Difference(description: "fewer than two questions were sent") }
            let isSame = installs[installs.count - 1] == installs[installs.count - 2]
            guard case .same = step else { return try expect("the same install", .boolean(isSame), .boolean(false)) }
            try expect("the same install", .boolean(isSame), .boolean(true))
        }
    }

    // MARK: Steps

    private func finishWriting() async {
        storage.release()
        await gate?.finishWriting()
    }

    private mutating func start(_ members: [String: JSON]) async throws {
        await finishWriting()
        app = app.changed(by: members)
        if !members.isEmpty { try await server.use(app) }
        let known: Set = [
            "bundle", "version", "build", "platform", "os", "region", "language", "attributes", "maximumAge",
            "publicKeys",
        ]
        guard known.isSuperset(of: app.keys) else { throw Difference(description: "unknown member of the app") }
        gate = try server.gate(
            GateSettings(
                app: AppDescription(
                    bundle: app["bundle"]?.string, version: app["version"]?.string, build: app["build"]?.string,
                    platform: app["platform"]?.string, os: app["os"]?.string, region: app["region"]?.string,
                    language: app["language"]?.string
                ),
                attributes: try (app["attributes"]?.members ?? [:]).mapValues(Self.attribute),
                maximumAge: app["maximumAge"]?.whole ?? 7,
                publicKeys: app["publicKeys"]?.elements?.compactMap(\.string) ?? [],
                storage: storage,
                transport: transport,
                clock: { [time] in Date(timeIntervalSince1970: Double(time.withLock { $0 })) },
                observer: { [reports, wasLate] report in
                    reports.withLock { $0.append(report) }
                    if report.fault == Self.tooLate { wasLate.withLock { $0 = true } }
                },
                setStorageAlarm: { [storage] ring in storage.setAlarm(ring) }
            )
        )
        messages = []
    }

    private mutating func preview(_ answer: String, isRefused: Bool) async throws {
        await finishWriting()
        do {
            gate = try VersionGate.preview(answer)
            messages = []
        } catch let error as VersionGate.ConfigurationError where isRefused {
            let isHelpful = error.description.contains("; give {")
            return try expect("the error says what to give", .boolean(isHelpful), .boolean(true))
        }
        try expect("the preview is refused", .boolean(false), .boolean(isRefused))
    }

    private func set(_ members: [String: JSON]) throws {
        let gate = try current
        if let language = members["language"] { gate.language = language.string }
        if let region = members["region"] { gate.region = region.string }
        if let attributes = members["attributes"]?.members {
            gate.attributes = try attributes.mapValues(Self.attribute)
        }
    }

    private static func attribute(_ value: JSON) throws -> AttributeValue {
        switch value {
        case .string(let text): return .string(text)
        case .boolean(let boolean): return .boolean(boolean)
        case .number(let number): return Int(exactly: number).map(AttributeValue.integer) ?? .number(number)
        default: throw Difference(description: "no attribute: \(value.text)")
        }
    }

    private mutating func check(_ expected: Scenario.Check) async throws {
        let gate = try current
        _ = transport.takeBodies()
        reports.withLock { $0 = [] }
        server.hold()
        let checks = expected.manual.map { gate.begin(force: expected.force, manual: $0) }
        server.release()
        var given: [[Message]] = []
        for check in checks { given.append(await check.value) }
        let bodies = try transport.takeBodies().map { try JSON(text: $0) }
        installs += bodies.compactMap { $0["install"]?.string }
        let requests = try await server.requests(asked: !bodies.isEmpty) ?? bodies
        let questions = !expected.asks ? 0.0 : expected.manual == [false, true] ? 2 : 1
        try expect("questions", .number(Double(bodies.count)), .number(questions))
        try expect("requests", .number(Double(requests.count)), .number(questions))
        for messages in given {
            try expect("shown", .array(messages.map { .string($0.id) }), expected.shows)
            if let links = expected.links {
                try expect("links", .array(messages.map { JSON($0.link?.absoluteString) }), links)
            }
            if let left = expected.left {
                try expect("left", .array(messages.map { $0.left.map { .number(Double($0)) } ?? .null }), left)
            }
            if let gives = expected.gives { try expect("given", .array(messages.map(Self.json)), gives) }
        }
        messages = given[0] + messages
        if let expected = expected.reports {
            try expect("reports", .array(reports.withLock { $0 }.map(Self.json)), .array([expected]))
        }
        if let sends = expected.sends {
            try expect("sent", Self.withAnyInstall(requests.last ?? .null, like: sends), sends)
        }
    }

    private mutating func fields(_ expected: JSON) async throws {
        let fields = try await current.fields()
        installs += [fields["App-Install"] ?? ""]
        let named = JSON.object(fields.mapValues(JSON.string))
        try expect("fields", Self.withAnyInstall(named, like: expected, name: "App-Install"), expected)
    }

    private static func json(_ message: Message) -> JSON {
        var members: [String: JSON] = [
            "id": .string(message.id), "title": .string(message.title), "text": .string(message.text),
        ]
        if let link = message.link { members["link"] = .string(link.absoluteString) }
        if let target = message.target { members["target"] = .string(target) }
        if message.isLockout { members["lockout"] = .boolean(true) }
        if message.canSkip { members["skip"] = .boolean(true) }
        return .object(members)
    }

    private static func json(_ report: CheckReport) -> JSON {
        var members: [String: JSON] = [
            "outcome": .string("\(report.outcome)"), "messages": .number(Double(report.messages)),
        ]
        if let status = report.status { members["status"] = .number(Double(status)) }
        if let fault = report.fault { members["fault"] = .boolean(!fault.isEmpty) }
        return .object(members)
    }

    private func expectStored(_ expected: JSON) throws {
        guard let text = storage.text else { return try expect("kept", .null, expected) }
        let kept = try? JSON(text: Data(text.utf8))
        try expect("kept", Self.withAnyInstall(kept ?? .string(text), like: expected), expected)
    }

    // MARK: Comparing

    /// The value with `*` for a valid install, if that is what is expected.
    private static func withAnyInstall(_ value: JSON, like expected: JSON, name: String = "install") -> JSON {
        guard expected[name] == .string("*"), var members = value.members,
            let install = members[name]?.string, UUID(uuidString: install)?.uuidString.lowercased() == install
        else { return value }
        members[name] = .string("*")
        return .object(members)
    }

    private func expect(_ what: String, _ value: JSON, _ expected: JSON) throws {
        guard value != expected else { return }
        throw Difference(description: "\(what): \(value.text.prefix(2_000)), and not \(expected.text.prefix(2_000))")
    }

    private var current: VersionGate {
        get throws {
            guard let gate else { throw Difference(description: "the app has not started") }
            return gate
        }
    }

    private func message(_ id: String) throws -> Message {
        guard let message = messages.first(where: { $0.id.utf8.elementsEqual(id.utf8) }) else {
            throw Difference(description: "no check has given \(id)")
        }
        return message
    }
}

extension JSON {
    fileprivate init(_ text: String?) {
        self = text.map(JSON.string) ?? .null
    }
}

/// The storage of a scenario.
private final class ScenarioStorage: GateStorage {
    private struct State {
        var text: String?
        var isUnreadable = false
        var isStuck = false
        /// Holds a reading that is stuck.
        var stuck: DispatchSemaphore?
        var isFull = false
        var alarms: [@Sendable () -> Void] = []
    }

    private struct Failure: Error {}

    private let state = Locked(State())

    var text: String? { state.withLock { $0.text } }

    func change(_ change: Scenario.StorageChange) {
        state.withLock { state in
            switch change {
            case .unreadable: state.isUnreadable = true
            case .stuck: state.isStuck = true
            case .full: state.isFull = true
            case .writable: state.isFull = false
            case .text(let text): (state.text, state.isUnreadable) = (text, false)
            }
        }
    }

    /// A reading that is stuck ends.
    func release() {
        state.withLock { $0.stuck }?.signal()
    }

    func setAlarm(_ ring: @escaping @Sendable () -> Void) {
        state.withLock { $0.alarms.append(ring) }
    }

    func read() throws -> String? {
        let state = state.withLock { state in
            defer { (state.isStuck, state.alarms) = (false, []) }
            if state.isStuck { state.stuck = DispatchSemaphore(value: 0) }
            return state
        }
        if state.isStuck {
            for ring in state.alarms { ring() }
            state.stuck?.wait()
        }
        guard !state.isUnreadable else { throw Failure() }
        return state.text
    }

    func write(_ text: String?) throws {
        let isWritten = state.withLock { state in
            if state.isFull && text != nil { return false }
            (state.text, state.isUnreadable) = (text, false)
            return true
        }
        guard isWritten else { throw Failure() }
    }
}

/// Notes the bodies of questions.
private final class RecordingTransport: GateTransport {
    private let next: any GateTransport
    private let bodies = Locked<[Data]>([])

    init(next: any GateTransport) {
        self.next = next
    }

    func takeBodies() -> [Data] {
        bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
    }

    func response(to request: GateRequest) async throws -> GateResponse {
        bodies.withLock { $0.append(request.body) }
        return try await next.response(to: request)
    }
}

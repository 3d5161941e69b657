import Dispatch
public import Foundation

/// Asks a versiongate server which messages the app should show, and remembers what the person has seen.
///
/// Make one for the whole app, and ask at its start and when it comes to the foreground:
///
/// ```swift
/// let gate = try! VersionGate(server: URL(string: "https://gate.example.com")!)
/// let messages = await gate.check()
/// ```
///
/// Whatever the server, the network or the storage does, a check neither throws nor takes longer than 2 seconds. All
/// members can be used from any thread.
public final class VersionGate: Sendable {
    private let address: URL
    private let maximumAge: Int
    private let transport: any GateTransport
    private let clock: @Sendable () -> Date
    private let publicKeys: [String]
    private let observer: (@Sendable (CheckReport) -> Void)?
    private let alarm: Alarm
    private let kept: StorageQueue
    private let state: Locked<State>

    /// Calls `ring` after some seconds.
    package typealias Alarm = @Sendable (_ seconds: Int, _ ring: @escaping @Sendable () -> Void) -> Void

    private struct State {
        var app: AppDescription
        var attributes: [String: AttributeValue]
        /// What is remembered; nil until storage has been read.
        var memory: Memory?
        /// Storage was not read in time, so what is in it is not replaced.
        var isUnread = false
        /// When this start last asked, in seconds since 1970.
        var lastAsked: Int?
        /// The newest check that is under way, and how many began before it. Others that begin now share it.
        var underWay: (number: Int, isManual: Bool, task: Task<[Message], Never>)?
        var begun = 0
        /// How often the app has told the gate to forget.
        var timesForgotten = 0
        /// Whether a fault was said on the console.
        var hasSaidFault = false
    }

    /// What a gate is given that cannot be right.
    public struct ConfigurationError: Error, Equatable, CustomStringConvertible {
        /// What is wrong, and what to do.
        public let description: String
    }

    /// Creates a gate. It does nothing until the first check.
    ///
    /// Throws a ``ConfigurationError`` if `server` is no address of a server, or `app` has no bundle.
    ///
    /// - Parameters:
    ///   - server: The address of the server, such as `https://gate.example.com` or `https://example.com/gate`;
    ///     `/v1/check` is put behind it.
    ///   - app: What the server is told of the app.
    ///   - attributes: What rules can ask for besides; see ``attributes``.
    ///   - maximumAge: For how many days a lockout holds while the server cannot be reached. Less than 0 counts as 0,
    ///     more than 90 as 90. With 0, a lockout is shown only in answer to a check.
    ///   - storage: Where the memory is kept; by default as ``defaultStorage(for:)`` says.
    ///   - transport: What carries the question to the server.
    ///   - clock: What time it is.
    ///   - publicKeys: If there are any, lockouts hold only if one of them has signed them; others are plain messages. Each
    ///     is the line that `versiongate lockout-key new` prints.
    ///   - observer: Is told what each check did. Without one, a debug build says its first fault on the console.
    public convenience init(
        server: URL,
        app: AppDescription = .current,
        attributes: [String: AttributeValue] = [:],
        maximumAge: Int = 7,
        storage: (any GateStorage)? = nil,
        transport: any GateTransport = URLSessionTransport(),
        clock: @escaping @Sendable () -> Date = { Date() },
        publicKeys: [String] = [],
        observer: (@Sendable (CheckReport) -> Void)? = nil
    ) throws {
        try self.init(
            server: server, app: app, attributes: attributes, maximumAge: maximumAge,
            storage: storage ?? VersionGate.defaultStorage(for: app), transport: transport, clock: clock,
            publicKeys: publicKeys, observer: observer,
            alarm: { seconds, ring in Self.alarms.asyncAfter(deadline: .now() + .seconds(seconds), execute: ring) }
        )
    }

    private static let alarms = DispatchQueue(label: "dev.versiongate.alarms", qos: .userInitiated)

    /// Creates a gate for which `alarm` says when time is over: 2 seconds for a check, 1 for reading storage.
    package init(
        server: URL,
        app: AppDescription,
        attributes: [String: AttributeValue],
        maximumAge: Int,
        storage: any GateStorage,
        transport: any GateTransport,
        clock: @escaping @Sendable () -> Date,
        publicKeys: [String] = [],
        observer: (@Sendable (CheckReport) -> Void)?,
        alarm: @escaping Alarm
    ) throws {
        let parts = URLComponents(url: server, resolvingAgainstBaseURL: true)
        guard let parts, ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false,
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else {
            throw ConfigurationError(
                description: "the server is \(server.absoluteString): give an address such as https://gate.example.com"
            )
        }
        guard app.bundle?.isEmpty == false else {
            throw ConfigurationError(description: "the bundle is missing: give an AppDescription that has one")
        }
        if let key = publicKeys.first(where: { !LockoutSignature.isKey($0) }) {
            throw ConfigurationError(
                description: "the public key is \(key): give the line that versiongate lockout-key new prints"
            )
        }
        self.publicKeys = publicKeys
        address = server.appendingPathComponent("v1/check")
        self.maximumAge = min(max(maximumAge, 0), 90)
        self.transport = transport
        self.clock = clock
        self.observer = observer
        self.alarm = alarm
        kept = StorageQueue(storage)
        state = Locked(State(app: app, attributes: attributes))
    }

    /// Values that rules of the policy can ask for, such as `channel`; sent with each question from now on.
    ///
    /// The server takes at most 64 of them, with names of up to 128 bytes and values of up to 1,024. An attribute is not
    /// sent if it is empty text, a number that is not finite, or has the name of a member of ``AppDescription`` or
    /// `install`.
    public var attributes: [String: AttributeValue] {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    /// The first language of the person, such as `de-AT`; sent with each question from now on.
    public var language: String? {
        get { state.withLock { $0.app.language } }
        set { state.withLock { $0.app.language = newValue } }
    }

    /// The country that the person has set, such as `AT`; sent with each question from now on.
    public var region: String? {
        get { state.withLock { $0.app.region } }
        set { state.withLock { $0.app.region = newValue } }
    }

    // MARK: Checks

    /// The messages to show now, in order.
    ///
    /// Asks the server once in a start of the app, and again when 15 minutes have gone by since it last asked. If the
    /// server does not answer within 2 seconds, or is not asked, a lockout that it sent before still holds, for a time.
    /// The messages count as shown, so show all of them. Checks at the same time share one question and its messages. A
    /// check goes on if the task that waits for it is cancelled.
    ///
    /// - Parameters:
    ///   - force: Whether to ask although 15 minutes have not gone by: for a button "Try again", and whenever a lockout is
    ///     on the screen.
    ///   - manual: Whether the person asked, by a button "Check for updates": asks as with `force`, and also gives what
    ///     hints hide and what a rollout still holds back.
    public func check(force: Bool = false, manual: Bool = false) async -> [Message] {
        await begin(force: force, manual: manual).value
    }

    /// The messages to show now, in order, for code that does not wait with `await`.
    ///
    /// - Parameters:
    ///   - force: As of ``check(force:manual:)``.
    ///   - manual: As well.
    ///   - completion: Is called once, on the main queue.
    public func check(
        force: Bool = false,
        manual: Bool = false,
        completion: @escaping @MainActor @Sendable ([Message]) -> Void
    ) {
        Task {
            let messages = await check(force: force, manual: manual)
            await completion(messages)
        }
    }

    /// Begins a check, or joins the one that is under way. A manual one joins only a manual one.
    package func begin(force: Bool, manual: Bool = false) -> Task<[Message], Never> {
        state.withLock { state in
            if let underWay = state.underWay, underWay.isManual || !manual { return underWay.task }
            let deadline = Deadline()
            alarm(2) { deadline.pass() }
            state.begun += 1
            let number = state.begun
            let task = Task { await self.check(number, force: force || manual, isManual: manual, until: deadline) }
            state.underWay = (number, manual, task)
            return task
        }
    }

    private func check(_ number: Int, force: Bool, isManual: Bool, until deadline: Deadline) async -> [Message] {
        let start = DispatchTime.now()
        let question = await deadline.result { await self.ask(force: force, isManual: isManual) } ?? .failed(.tooLate)
        let now = seconds()
        let contents = state.withLock { state -> [MessageContent] in
            guard var memory = state.memory else { return [] }
            guard case .answered(let answer, let timesForgotten) = question else {
                return memory.lockout(
                    for: state.app, at: now, maximumAge: maximumAge, needsSignature: !publicKeys.isEmpty
                ).map { [$0] } ?? []
            }
            let shown = memory.receive(
                answer, for: state.app, at: now, keepsLockout: maximumAge > 0, isManual: isManual
            )
            if state.timesForgotten == timesForgotten { state.memory = memory }
            return shown
        }
        save()
        state.withLock { state in
            // Another check may be under way: a manual one, or one after forgetting.
            if state.underWay?.number == number { state.underWay = nil }
        }
        let nanoseconds = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
        report(question, duration: Double(nanoseconds) / 1e9, messages: contents.count)
        return contents.map { Message($0, gate: self) }
    }

    /// What became of asking the server.
    private enum Question {
        /// It was not time to ask.
        case held
        case failed(CheckFault, status: Int? = nil)
        /// A valid answer, and how often the app had told the gate to forget when it was asked for.
        case answered(Answer, timesForgotten: Int)
    }

    /// Asks the server, if it is time to.
    private func ask(force: Bool, isManual: Bool) async -> Question {
        await read()
        let now = seconds()
        let question = state.withLock { state -> (request: GateRequest, timesForgotten: Int)? in
            let isEarly = state.lastAsked.map { last in
                last <= now && now - last < 15 * 60
                    && state.memory?.lockoutHasEnded(since: last, at: now) != true
            }
            guard force || isEarly != true else { return nil }
            state.lastAsked = now
            let install = state.memory?.makeInstallIfNeeded()
            let body = state.app.body(install: install, attributes: state.attributes, isManual: isManual)
            return (GateRequest(url: address, body: body), state.timesForgotten)
        }
        guard let question else { return .held }
        save()
        let response: GateResponse
        do {
            response = try await transport.response(to: question.request)
        } catch {
            return .failed(CheckFault(error.localizedDescription))
        }
        do {
            let bundle = state.withLock { $0.app.bundle ?? "" }
            let answer = try Answer(response).judged(response, bundle: bundle, keys: publicKeys, at: seconds())
            return .answered(answer, timesForgotten: question.timesForgotten)
        } catch {
            return .failed(error, status: response.status)
        }
    }

    /// Reads storage, unless it was read. What it has not given after a second is not waited for.
    private func read() async {
        guard state.withLock({ $0.memory == nil }) else { return }
        let deadline = Deadline()
        alarm(1) { deadline.pass() }
        let text = await deadline.result { await self.kept.read() }
        state.withLock { state in
            guard state.memory == nil else { return }
            state.memory = Memory(text: text ?? nil)
            state.isUnread = text == nil
        }
    }

    /// Tells the observer, or a developer, what a check did.
    private func report(_ question: Question, duration: TimeInterval, messages: Int) {
        var (outcome, status, fault) = (CheckReport.Outcome.asked, Int?.none, String?.none)
        switch question {
        case .held: outcome = .kept
        case .failed(let why, let answered): (status, fault) = (answered, why.errorDescription)
        case .answered: status = 200
        }
        if let observer {
            let report = CheckReport(
                outcome: outcome, status: status, fault: fault, duration: duration, messages: messages
            )
            return observer(report)
        }
        #if DEBUG
            let isFirst = state.withLock { state in
                defer { state.hasSaidFault = state.hasSaidFault || fault != nil }
                return !state.hasSaidFault
            }
            guard let fault, isFirst else { return }
            FileHandle.standardError.write(Data("VersionGate: \(address.absoluteString): \(fault)\n".utf8))
        #endif
    }

    // MARK: Gates

    /// The headers for requests to the app's own API, from which a gateway there knows a client that is locked out.
    ///
    /// They say what a check says, and the same random id of this installation. One that is not printable ASCII is left out.
    /// It takes at most a second.
    public func fields() async -> [String: String] {
        await read()
        defer { save() }
        return state.withLock { $0.app.fields(install: $0.memory?.makeInstallIfNeeded()) }
    }

    // MARK: What is remembered

    /// Deletes everything that the library keeps, the random id of this installation too.
    ///
    /// The next check asks the server and makes another id. Nothing is kept of an answer that is under way.
    public func forget() {
        state.withLock { state in
            state.memory = Memory()
            state.isUnread = false
            state.lastAsked = nil
            state.underWay = nil
            state.timesForgotten += 1
        }
        kept.delete()
        save()
    }

    /// Waits until what the gate remembers is written, for at most 2 seconds.
    ///
    /// All writing is in the background. Only a program that ends right after a check, or after what the person did, needs
    /// to wait.
    public func finishWriting() async {
        let deadline = Deadline()
        alarm(2) { deadline.pass() }
        _ = await deadline.result { await self.kept.finish() }
    }

    /// Records that the person closed, followed or skipped a message.
    func record(_ content: MessageContent, skipped: Bool) {
        guard content.hasHints else { return }
        let now = seconds()
        state.withLock { state in
            state.memory?.note(content, at: now, skipped: skipped)
        }
        save()
    }

    /// Has the memory written as it is by then. While storage has not been read nothing is written.
    private func save() {
        kept.write { self.state.withLock { $0.isUnread ? nil : $0.memory } }
    }

    /// The time in whole seconds since 1970. Before 1970 no clock of a device is right: it counts as 1970.
    private func seconds() -> Int {
        let read = clock().timeIntervalSince1970
        let time = (read.isNaN ? Date().timeIntervalSince1970 : read).rounded(.down)
        return Int(exactly: min(max(time, 0), Double(MessageContent.greatestNumber))) ?? 0
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Dispatch
public import Foundation

/// Asks a versiongate server which messages the app should show, and remembers what the person has seen.
///
/// Make one for the whole app, and ask at its start and when it comes to the foreground:
///
/// ```swift
/// let gate = VersionGate(server: URL(string: "https://gate.example.com")!)
/// let messages = await gate.check()
/// ```
///
/// Whatever the server, the network or the storage does, a check neither throws nor takes longer than 2 seconds. All
/// members can be used from any thread.
public final class VersionGate: Sendable {
    private let address: URL
    private let app: AppDescription
    private let maximumAge: Int
    private let transport: any GateTransport
    private let clock: @Sendable () -> Date
    private let alarm: @Sendable (_ ring: @escaping @Sendable () -> Void) -> Void
    private let kept: StorageQueue
    private let state: Locked<State>

    private struct State {
        var attributes: [String: AttributeValue]
        /// What is remembered; nil until storage has been read.
        var memory: Memory?
        /// When this start last asked, in seconds since 1970.
        var lastAsked: Int?
        /// The check that is under way. Others that begin now share it.
        var underWay: Task<[Message], Never>?
        /// How often the app has told the gate to forget.
        var timesForgotten = 0
    }

    /// Creates a gate. It does nothing until the first check.
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
    public convenience init(
        server: URL,
        app: AppDescription = .current,
        attributes: [String: AttributeValue] = [:],
        maximumAge: Int = 7,
        storage: (any GateStorage)? = nil,
        transport: any GateTransport = URLSessionTransport(),
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(
            server: server,
            app: app,
            attributes: attributes,
            maximumAge: maximumAge,
            storage: storage ?? VersionGate.defaultStorage(for: app),
            transport: transport,
            clock: clock,
            alarm: { ring in DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + 2, execute: ring) }
        )
    }

    /// Creates a gate whose checks are given up when `alarm` calls what it was given at their beginning.
    package init(
        server: URL,
        app: AppDescription,
        attributes: [String: AttributeValue],
        maximumAge: Int,
        storage: any GateStorage,
        transport: any GateTransport,
        clock: @escaping @Sendable () -> Date,
        alarm: @escaping @Sendable (_ ring: @escaping @Sendable () -> Void) -> Void
    ) {
        address = server.appendingPathComponent("v1/check")
        self.app = app
        self.maximumAge = min(max(maximumAge, 0), 90)
        self.transport = transport
        self.clock = clock
        self.alarm = alarm
        kept = StorageQueue(storage)
        state = Locked(State(attributes: attributes))
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

    // MARK: Checks

    /// The messages to show now, in order.
    ///
    /// Asks the server once in a start of the app, and again when 15 minutes have gone by since it last asked. If the
    /// server does not answer within 2 seconds, or is not asked, a lockout that it sent before still holds, for a time.
    /// The messages count as shown, so show all of them. Checks at the same time share one question and its messages. A
    /// check goes on if the task that waits for it is cancelled.
    ///
    /// - Parameter force: Whether to ask although 15 minutes have not gone by, for a button "Try again".
    public func check(force: Bool = false) async -> [Message] {
        await begin(force: force).value
    }

    /// Begins a check, or joins the one that is under way.
    package func begin(force: Bool) -> Task<[Message], Never> {
        state.withLock { state in
            if let underWay = state.underWay { return underWay }
            let deadline = Deadline()
            alarm { deadline.pass() }
            let timesForgotten = state.timesForgotten
            let check = Task { await self.check(force: force, until: deadline, begunAfterForgetting: timesForgotten) }
            state.underWay = check
            return check
        }
    }

    private func check(force: Bool, until deadline: Deadline, begunAfterForgetting begun: Int) async -> [Message] {
        let asked = await deadline.result { await self.ask(force: force) } ?? nil
        let now = seconds()
        let contents = state.withLock { state -> [MessageContent] in
            guard var memory = state.memory else { return [] }
            guard let asked else {
                return memory.lockout(for: app, at: now, maximumAge: maximumAge).map { [$0] } ?? []
            }
            let shown = memory.receive(asked.answer, for: app, at: now, keepsLockout: maximumAge > 0)
            if state.timesForgotten == asked.timesForgotten { state.memory = memory }
            return shown
        }
        save()
        _ = await deadline.result { await self.kept.finish() }
        state.withLock { state in
            // After forgetting, another check may be under way.
            if state.timesForgotten == begun { state.underWay = nil }
        }
        return contents.map { Message($0, gate: self) }
    }

    /// A valid answer, and how often the app had told the gate to forget when it was asked for.
    private struct Asked {
        var answer: Answer
        var timesForgotten: Int
    }

    /// Asks the server, if it is time to; nil if it is not, or if there is no valid answer.
    private func ask(force: Bool) async -> Asked? {
        if state.withLock({ $0.memory == nil }) {
            let memory = Memory(text: await kept.read())
            state.withLock { $0.memory = $0.memory ?? memory }
        }
        let now = seconds()
        let question = state.withLock { state -> (request: GateRequest, timesForgotten: Int)? in
            let waits = state.lastAsked.map { $0 <= now && now - $0 < 15 * 60 } ?? false
            // The time of the check may have been up before storage was read.
            guard force || !waits, !Task.isCancelled else { return nil }
            state.lastAsked = now
            let install = state.memory?.install ?? UUID().uuidString.lowercased()
            state.memory?.install = install
            let body = app.body(install: install, attributes: state.attributes)
            return (GateRequest(url: address, body: body), state.timesForgotten)
        }
        guard let question else { return nil }
        save()
        guard let response = try? await transport.response(to: question.request), response.status == 200,
            response.body.count <= GateResponse.maximumSize,
            let answer = try? JSONDecoder().decode(Answer.self, from: response.body)
        else { return nil }
        return Asked(answer: answer, timesForgotten: question.timesForgotten)
    }

    // MARK: What is remembered

    /// Deletes everything that the library keeps, the random id of this installation too.
    ///
    /// The next check asks the server and makes another id. Nothing is kept of an answer that is under way.
    public func forget() {
        state.withLock { state in
            state.memory = Memory()
            state.lastAsked = nil
            state.underWay = nil
            state.timesForgotten += 1
        }
        kept.delete()
        save()
    }

    /// Waits until what the gate remembers is written, for at most 2 seconds.
    ///
    /// What a person does with a message, and ``forget()``, are written in the background. Only a program that ends right
    /// after them needs to wait.
    public func finishWriting() async {
        let deadline = Deadline()
        alarm { deadline.pass() }
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

    /// Has the memory written as it is by then. While storage has not been read there is nothing to write.
    private func save() {
        kept.write { self.state.withLock { $0.memory } }
    }

    /// The time in whole seconds since 1970. Before 1970 no clock of a device is right: it counts as 1970.
    private func seconds() -> Int {
        let time = clock().timeIntervalSince1970.rounded(.down)
        return Int(exactly: min(max(time, 0), Double(MessageContent.greatestNumber))) ?? 0
    }
}

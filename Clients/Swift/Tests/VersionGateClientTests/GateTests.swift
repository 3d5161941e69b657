import Foundation
import ScenarioSupport
import Testing

@testable import VersionGateClient

/// What scenarios cannot say: time that is up, many callers at once, and apps whose parts do not work.
@Suite("Gate")
struct GateTests {
    private static let app = AppDescription(bundle: "com.example.doto", version: "1.0")
    static let server = URL(string: "https://gate.example.com") ?? URL(fileURLWithPath: "/")
    private static let kept = """
        {"answer":{"at":1790000000,"version":"1.0","lockout":{"id":"kept","title":"Blocked","text":"Update."}}}
        """
    private static let news = #"{"messages":[{"id":"news","title":"News","text":"Lists.","shows":9,"skip":true}]}"#

    /// A gate whose checks are given up when the test says so.
    private static func gate(
        app: AppDescription = app,
        attributes: [String: AttributeValue] = [:],
        maximumAge: Int = 7,
        storage: any GateStorage = MemoryStorage(),
        transport: any GateTransport = Answering(news),
        now: Double = 1_790_000_000,
        observer: @escaping @Sendable (CheckReport) -> Void = { _ in },
        alarm: @escaping VersionGate.Alarm = { _, _ in }
    ) throws -> VersionGate {
        try VersionGate(
            server: server, app: app, attributes: attributes, maximumAge: maximumAge, storage: storage,
            transport: transport, clock: { Date(timeIntervalSince1970: now) }, observer: observer, alarm: alarm
        )
    }

    // MARK: Time that is up

    @Test("A transport that never answers is given up")
    func transportThatHangs() async throws {
        let gate = try VersionGate(
            server: Self.server, app: Self.app, storage: MemoryStorage(Self.kept), transport: Hanging(),
            clock: { Date(timeIntervalSince1970: 1_790_000_000) }, observer: { _ in }
        )
        let ids = await gate.check().map(\.id)
        #expect(ids == ["kept"] || ids.isEmpty, "storage may not be read in time on a slow machine")
    }

    /// Each holds one of the threads that tasks share, of which there are as many as processors: one test at a time.
    @Suite("Threads that a transport holds", .serialized)
    struct HeldThreads {
        @Test("A transport that blocks its thread is given up")
        func transportThatBlocks() async throws {
            let alarms = Alarms()
            let transport = Blocking { alarms.ring() }
            let gate = try GateTests.gate(
                storage: MemoryStorage(GateTests.kept), transport: transport, alarm: alarms.set
            )
            #expect(await gate.check().map(\.id) == ["kept"])
            transport.release()
        }

        @Test("A transport that blocks when it is cancelled holds no check up")
        func transportThatBlocksCancellation() async throws {
            let alarms = Alarms()
            let transport = BlockingCancellation { alarms.ring() }
            let gate = try GateTests.gate(
                storage: MemoryStorage(GateTests.kept), transport: transport, alarm: alarms.set
            )
            #expect(await gate.check().map(\.id) == ["kept"])
            transport.release()
        }
    }

    @Test("Storage that never reads is left as it is, and the server is asked")
    func storageThatNeverReads() async throws {
        let (alarms, transport) = (Alarms(of: 1), Answering(Self.news))
        let storage = LateStorage(text: Self.kept) { alarms.ring() }
        let gate = try Self.gate(storage: storage, transport: transport, alarm: alarms.set)
        #expect(await gate.check().map(\.id) == ["news"])
        #expect(await gate.check(force: true).map(\.id) == ["news"])
        #expect(transport.bodies.count == 2)
        storage.release()
        await gate.finishWriting()
        #expect(await gate.check().isEmpty, "what is read too late is not used")
        #expect(storage.written.isEmpty)
        gate.forget()
        await gate.finishWriting()
        #expect(!storage.written.isEmpty && storage.written.allSatisfy { $0 == nil })
    }

    @Test("Storage that never writes delays no answer, and the app goes on with what it has in memory")
    func storageThatNeverWrites() async throws {
        let alarms = Alarms()
        let gate = try Self.gate(
            storage: HangingStorage(),
            transport: Answering(#"{"messages":[{"id":"once","title":"News","text":"Lists.","shows":1}]}"#),
            alarm: alarms.set
        )
        #expect(await gate.check().map(\.id) == ["once"])
        #expect(await gate.check(force: true).isEmpty)
        alarms.ring()
        let writing = Task { await gate.finishWriting() }
        await alarms.isSet()
        alarms.ring()
        await writing.value
    }

    @Test("An answer that comes when the time is up changes nothing")
    func lateAnswer() async throws {
        let (alarms, transport, storage) = (Alarms(), Held(), MemoryStorage(Self.kept))
        let gate = try Self.gate(storage: storage, transport: transport, alarm: alarms.set)
        let check = gate.begin(force: false)
        await transport.asked()
        alarms.ring()
        #expect(await check.value.map(\.id) == ["kept"])
        transport.release(#"{"messages":[]}"#)
        #expect(await gate.check().map(\.id) == ["kept"])
        await gate.finishWriting()
        #expect(storage.read()?.contains("kept") == true)
    }

    @Test("A check goes on when the task that waits for it is cancelled")
    func cancelled() async throws {
        let transport = Held()
        let gate = try Self.gate(transport: transport)
        let waiting = Task { await gate.check() }
        await transport.asked()
        waiting.cancel()
        transport.release(Self.news)
        #expect(await waiting.value.map(\.id) == ["news"])
    }

    // MARK: Many at once

    @Test("A thousand checks at the same time share one question")
    func together() async throws {
        let transport = Held()
        let storage = MemoryStorage()
        let gate = try Self.gate(storage: storage, transport: transport)
        let checks = (0..<1_000).map { _ in gate.begin(force: true) }
        await transport.asked()
        transport.release(Self.news)
        for check in checks { #expect(await check.value.map(\.id) == ["news"]) }
        #expect(transport.count == 1)
        await gate.finishWriting()
        #expect(storage.read()?.contains(#""shown":1"#) == true)
    }

    @Test("Checks, people, settings and forgetting from many threads at once leave storage that can be read")
    func manyThreads() async throws {
        let storage = MemoryStorage()
        let gate = try Self.gate(storage: storage)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    for message in await gate.check(force: true) {
                        message.dismiss()
                        if number % 7 == 0 { message.opened() }
                        if number % 11 == 0 { message.skip() }
                    }
                    if number % 13 == 0 { gate.forget() }
                    gate.attributes["number"] = .integer(number)
                }
            }
        }
        await gate.check(force: true).first?.skip()
        await gate.finishWriting()
        let memory = Memory(text: storage.read())
        #expect(memory.install != nil)
        #expect(memory.text == storage.read())
        #expect(await gate.check(force: true).isEmpty)
    }

    // MARK: Forgetting

    @Test("Nothing is kept of an answer that was under way, and the next check asks as another installation")
    func forgetsUnderWay() async throws {
        let (transport, storage) = (Held(), MemoryStorage())
        let gate = try Self.gate(storage: storage, transport: transport)
        let before = gate.begin(force: false)
        await transport.asked()
        gate.forget()
        let after = gate.begin(force: false)
        #expect(before != after)
        await transport.asked()
        transport.release(Self.news)
        #expect(await before.value.map(\.id) == ["news"])
        await gate.finishWriting()
        let installs = try transport.installs
        #expect(Set(installs).count == 2)
        #expect(storage.read() == #"{"install":"\#(installs[1])"}"#)
        #expect(gate.begin(force: true) == after)
        transport.release(#"{"messages":[]}"#)
        #expect(await after.value.isEmpty)
        await gate.finishWriting()
        #expect(storage.read() == #"{"install":"\#(installs[1])"}"#)
    }

    @Test("To forget deletes what was not read yet")
    func forgetsUnread() async throws {
        let storage = MemoryStorage(Self.kept)
        let gate = try Self.gate(storage: storage)
        gate.forget()
        await gate.finishWriting()
        #expect(storage.read() == nil)
        #expect(await gate.check().map(\.id) == ["news"])
    }

    // MARK: What the app gives

    @Test(
        "A bound below 0 days is 0, and one above 90 is 90",
        arguments: [(-5, 0), (0, 0), (90, 90), (.max, 90), (.min, 0)]
    )
    func bounds(given: Int, days: Int) async throws {
        let end = 1_790_000_000 + Double(days) * 86_400
        let transport = Answering("")
        for (now, isShown) in [(end, days > 0), (end + 1, false)] {
            let storage = MemoryStorage(Self.kept)
            let gate = try Self.gate(maximumAge: given, storage: storage, transport: transport, now: now)
            #expect(await gate.check().map(\.id) == (isShown ? ["kept"] : []))
        }
    }

    @Test("A clock may say anything", arguments: [.nan, .infinity, -.infinity, -1, 0.999, 1e300, -1e300, 0x1p53])
    func clocks(now: Double) async throws {
        let storage = MemoryStorage()
        let gate = try Self.gate(storage: storage, now: now)
        #expect(await gate.check().map(\.id) == ["news"])
        await gate.finishWriting()
        #expect(Memory(text: storage.read()).text == storage.read())
        #expect(await gate.check().isEmpty)
    }

    @Test("Attributes that cannot be sent are left out, and others are sent from the next question on")
    func attributes() async throws {
        let transport = Answering(Self.news)
        let gate = try Self.gate(
            app: AppDescription(bundle: "com.example.doto"),
            attributes: ["channel": "store", "seats": 3, "share": 0.25, "trial": false, "none": .number(.nan)],
            transport: transport
        )
        _ = await gate.check()
        gate.attributes = ["channel": "testflight", "size": .number(.infinity), "empty": ""]
        _ = await gate.check(force: true)
        var bodies = try transport.bodies.map { try #require(JSON(text: $0).members) }
        for index in bodies.indices { bodies[index]["install"] = nil }
        #expect(bodies.count == 2)
        #expect(
            bodies.first == [
                "bundle": .string("com.example.doto"), "channel": .string("store"), "seats": .number(3),
                "share": .number(0.25), "trial": .boolean(false),
            ]
        )
        #expect(bodies.last == ["bundle": .string("com.example.doto"), "channel": .string("testflight")])
        #expect(gate.attributes["channel"] == .string("testflight"))
    }

    @Test("A transport that reads more than 1 MiB gives no answer")
    func tooLarge() async throws {
        let body = Self.news + String(repeating: " ", count: 1 << 20)
        let faults = Locked<[String?]>([])
        let gate = try Self.gate(transport: Answering(body)) { report in faults.withLock { $0.append(report.fault) } }
        #expect(await gate.check().isEmpty)
        #expect(faults.withLock { $0 } == ["the answer is longer than 1 MiB"])
    }

    @Test(
        "An address that is none of a server is refused when the gate is made",
        arguments: [
            "gate.example.com", "ftp://example.com", "file:///etc/passwd", "https://", "https://example.com?a=b",
            "https://example.com/#a", "https://user:pw@example.com", "https://user@example.com",
        ]
    )
    func address(text: String) throws {
        let server = try #require(URL(string: text))
        let description = "the server is \(text): give an address such as https://gate.example.com"
        #expect(throws: VersionGate.ConfigurationError(description: description)) {
            try VersionGate(server: server, app: Self.app, storage: MemoryStorage())
        }
    }

    @Test(
        "An address of a server is taken",
        arguments: ["http://localhost:8080", "HTTPS://Example.com/gate/", "https://[::1]:8443"]
    )
    func rightAddress(text: String) throws {
        _ = try VersionGate(server: try #require(URL(string: text)), app: Self.app, storage: MemoryStorage())
    }

    @Test("An app without a bundle is refused when the gate is made", arguments: [nil, ""])
    func noBundle(bundle: String?) {
        let description = "the bundle is missing: give an AppDescription that has one"
        #expect(throws: VersionGate.ConfigurationError(description: description)) {
            try VersionGate(server: Self.server, app: AppDescription(bundle: bundle), storage: MemoryStorage())
        }
    }

    // MARK: The observer

    @Test(
        "The observer is told the fault in words",
        arguments: [
            (404, news, "the server answers with status 404"), (200, "<html>", "the answer is no JSON"),
            (200, "[]", "the answer has no list of messages"),
            (200, news, nil),
        ]
    )
    func fault(status: Int, body: String, words: String?) async throws {
        let reports = Locked<[CheckReport]>([])
        let gate = try Self.gate(transport: Answering(body, status: status)) { report in
            reports.withLock { $0.append(report) }
        }
        let count = await gate.check().count
        let told = reports.withLock { $0 }
        #expect(told.map(\.fault) == [words])
        #expect(told.map(\.status) == [status])
        #expect(told.map(\.messages) == [count])
        #expect(told.allSatisfy { $0.outcome == .asked && $0.duration >= 0 })
    }

    #if DEBUG && !canImport(Darwin)
        @Test("Without an observer a debug build says its first fault on the console, once")
        func console() async throws {
            let folder = try TemporaryFolder()
            let server = try LoopbackServer(status: "404 Not Found", headers: ["Connection: close"], body: "")
            let now = String(Int(Date().timeIntervalSince1970))
            let state = folder["com.example.doto"]
            try FileManager.default.createDirectory(at: state, withIntermediateDirectories: false)
            try Self.kept.replacingOccurrences(of: "1790000000", with: now)
                .write(to: state.appendingPathComponent("dev.versiongate.json"), atomically: true, encoding: .utf8)
            // Each answer to the lockout is to try again.
            let program = Command.product("VersionGateExample")
            let output = try await Command.run(
                "yes t | head -3 | XDG_STATE_HOME=$PWD '\(program)' \(server.url.absoluteString) com.example.doto 1.0",
                in: folder
            )
            #expect(server.requests.count == 4)
            let said = "VersionGate: \(server.url.absoluteString)/v1/check: the server answers with status 404"
            #expect(output.split(separator: "\n").filter { $0.contains("VersionGate:") } == [said[...]])
        }
    #endif

    // MARK: Text

    @Test("Texts are compared by their bytes, as in the other libraries")
    func bytes() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let transport = Answering(
            """
            {"messages":[{"id":"\(composed)","title":"A","text":"A","shows":1},
            {"id":"\(decomposed)","title":"A","text":"A","shows":1},
            {"id":"a","target":"\(composed)","title":"A","text":"A","shows":1},
            {"id":"a","target":"\(decomposed)","title":"A","text":"A","shows":1}]}
            """
        )
        let gate = try Self.gate(transport: transport)
        #expect(await gate.check().count == 4)
        #expect(await gate.check(force: true).isEmpty)
    }

    @Test("Kept text beyond the 256 newest messages is not read")
    func longList() {
        let messages = (1...300).map { #"{"id":"m\#($0)","last":1,"shown":1}"# }
        let memory = Memory(text: #"{"messages":[\#(messages.joined(separator: ","))]}"#)
        #expect(memory.text == #"{"messages":[\#(messages.suffix(256).joined(separator: ","))]}"#)
    }

    // MARK: Untrusted bytes

    @Test("No bytes of a server or of storage end the app, and what was read is kept in the same way")
    func fuzz() throws {
        var random = SeededGenerator.forTest()
        let (answer, text) = (Array(Self.news.utf8), Array(Self.kept.utf8))
        let words: [[UInt8]] = [
            "null", "true", "-1", "1e999", "0.5", "9007199254740993", "[", "]", "{", "}", "\"", "\\ud800", "\\u0000",
            ",",
            "\"messages\":", "\"lockout\":true", "\u{FEFF}", "[[[[[[[[[[[[[[[[",
        ].map { Array($0.utf8) }
        var accepted = 0
        for trial in 0..<5_000 {
            var bytes = trial % 2 == 0 ? answer : text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(contentsOf: words[Int.random(in: words.indices, using: &random)], at: at)
                case 1 where at < bytes.count: bytes[at] = UInt8.random(in: 0...255, using: &random)
                default: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 0...4, using: &random)))
                }
            }
            if trial % 2 == 0 {
                let answer = try? Answer(GateResponse(status: 200, body: Data(bytes)))
                if answer != nil { accepted += 1 }
            } else {
                let memory = Memory(text: String(decoding: bytes, as: UTF8.self))
                #expect(Memory(text: memory.text) == memory, "VERSIONGATE_SEED=\(random.seed), trial \(trial)")
                if memory != Memory() { accepted += 1 }
            }
        }
        #expect((1..<5_000).contains(accepted), "VERSIONGATE_SEED=\(random.seed)")
    }
}

// MARK: - Parts of an app

/// Answers each question with the same body.
private final class Answering: GateTransport {
    private let status: Int
    private let body: Data
    private let received = Locked<[Data]>([])

    init(_ body: String, status: Int = 200) {
        self.status = status
        self.body = Data(body.utf8)
    }

    var bodies: [Data] { received.withLock { $0 } }

    func response(to request: GateRequest) -> GateResponse {
        received.withLock { $0.append(request.body) }
        return GateResponse(status: status, body: body)
    }
}

/// Never answers, not even when it is cancelled.
private struct Hanging: GateTransport {
    func response(to request: GateRequest) async throws -> GateResponse {
        try await silence()
    }
}

/// Holds its thread until it is told to answer.
private final class Blocking: GateTransport {
    private let begun: @Sendable () -> Void
    private let released = DispatchSemaphore(value: 0)

    init(begun: @escaping @Sendable () -> Void) {
        self.begun = begun
    }

    func release() {
        released.signal()
    }

    func response(to request: GateRequest) -> GateResponse {
        begun()
        wait()
        return GateResponse(status: 200, body: Data(#"{"messages":[{"id":"a","title":"A","text":"A"}]}"#.utf8))
    }

    private func wait() {
        released.wait()
    }
}

/// Holds the thread that cancels it, until it is told to end.
private final class BlockingCancellation: GateTransport {
    private let begun: @Sendable () -> Void
    private let released = DispatchSemaphore(value: 0)

    init(begun: @escaping @Sendable () -> Void) {
        self.begun = begun
    }

    func release() {
        released.signal()
    }

    func response(to request: GateRequest) async throws -> GateResponse {
        try await withTaskCancellationHandler {
            begun()
            return try await silence()
        } onCancel: {
            released.wait()
        }
    }
}

/// The alarms of checks, or of storage, which ring when the test says so.
private final class Alarms: Sendable {
    private let seconds: Int
    private let rings = Locked<[@Sendable () -> Void]>([])
    private let (stream, added) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(of seconds: Int = 2) {
        self.seconds = seconds
    }

    var set: VersionGate.Alarm {
        { seconds, ring in
            guard seconds == self.seconds else { return }
            self.rings.withLock { $0.append(ring) }
            self.added.yield()
        }
    }

    /// Waits until an alarm is set that has not rung.
    func isSet() async {
        for await _ in stream where rings.withLock({ !$0.isEmpty }) { return }
    }

    func ring() {
        let rings = rings.withLock { rings in
            defer { rings = [] }
            return rings
        }
        for ring in rings { ring() }
    }
}

/// Answers the oldest question when it is told to.
private final class Held: GateTransport {
    private struct State {
        var waiting: [CheckedContinuation<GateResponse, Never>] = []
        var bodies: [Data] = []
    }

    private let state = Locked(State())
    private let (stream, questions) = AsyncStream<Void>.makeStream()

    var count: Int { state.withLock { $0.bodies.count } }

    var installs: [String] {
        get throws { try state.withLock { $0 }.bodies.compactMap { try JSON(text: $0)["install"]?.string } }
    }

    /// Waits for the next question.
    func asked() async {
        for await _ in stream { return }
    }

    func release(_ body: String) {
        let oldest = state.withLock { $0.waiting.removeFirst() }
        oldest.resume(returning: GateResponse(status: 200, body: Data(body.utf8)))
    }

    func response(to request: GateRequest) async -> GateResponse {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting.append(continuation)
                state.bodies.append(request.body)
            }
            questions.yield()
        }
    }
}

/// Storage whose writing never returns.
private struct HangingStorage: GateStorage {
    func read() -> String? { nil }

    func write(_ text: String?) {
        DispatchSemaphore(value: 0).wait()
    }
}

/// Storage that reads only when it is told to, and says when it has begun.
private final class LateStorage: GateStorage {
    private let text: String
    private let begun: @Sendable () -> Void
    private let released = DispatchSemaphore(value: 0)
    private let texts = Locked<[String?]>([])

    init(text: String, begun: @escaping @Sendable () -> Void) {
        self.text = text
        self.begun = begun
    }

    func release() {
        released.signal()
    }

    func read() -> String? {
        begun()
        released.wait()
        return text
    }

    var written: [String?] { texts.withLock { $0 } }

    func write(_ text: String?) {
        texts.withLock { $0.append(text) }
    }
}

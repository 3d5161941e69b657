import Logging
import PolicyStore
import Postgres
import Synchronization
import TestDatabase
import TestSystem
import Testing

@testable import CheckListener
@testable import PolicyServer

@Suite("Release recording")
struct ReleaseRecordingTests {
    private static let token = "vgr_" + String(repeating: "0", count: 43)
    private static let wrongToken = "vgr_" + String(repeating: "1", count: 43)
    private static let add = """
        INSERT INTO apps (bundle) VALUES ('com.example.doto');
        INSERT INTO release_tokens (name, hash, bundle) VALUES ('ci', sha256('\(token)'), 'com.example.doto')
        """

    /// What records releases without a pause, and does not mind a busy machine.
    private static func recording(_ state: ServerState) -> ReleaseRecording {
        ReleaseRecording(state, turn: .zero, limit: .seconds(600), patience: .seconds(600))
    }

    /// Runs `body` while releases are recorded in a database.
    private static func with(
        _ database: @escaping @Sendable () -> PostgresConfiguration,
        log: LogRecord = LogRecord(),
        _ body: (ReleaseRecording) async throws -> Void
    ) async throws {
        let recording = recording(.test(database: database, logger: log.logger))
        let run = Task { await recording.run() }
        defer { run.cancel() }
        try await body(recording)
    }

    /// The answer to a release in a word or two; nil: there was no room.
    private static func send(
        _ version: String,
        token: String? = token,
        body: [UInt8]? = nil,
        to recording: ReleaseRecording
    ) async -> String? {
        await withCheckedContinuation { continuation in
            let text = #"{"bundle":"com.example.doto","version":"\#(version)","platform":"ios"}"#
            let release = SentRelease(token: token, body: body ?? Array(text.utf8))
            let hasRoom = recording.recorder(release) { continuation.resume(returning: Self.words($0)) }
            if !hasRoom { continuation.resume(returning: nil) }
        }
    }

    private static func words(_ answer: SentRelease.Answer) -> String {
        switch answer {
        case .recorded(_, let isNew): isNew ? "added" : "recorded"
        case .unauthorized: "unauthorized"
        case .unreadable(let fault): "unreadable: \(fault)"
        case .refused(let fault): "refused: \(fault)"
        case .conflict(let fault): "conflict: \(fault)"
        case .unavailable: "unavailable"
        }
    }

    private static let releases = "SELECT count(*) FROM releases"

    @Test(
        "A release is recorded once by the role of a server, and the log has not its token", .migratedDatabase)
    func records() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(Self.add)
        let log = LogRecord()
        try await Self.with({ database.configuration(user: "versiongate_server") }, log: log) { recording in
            #expect(await Self.send("1.2", to: recording) == "added")
            #expect(await Self.send("1.2", to: recording) == "recorded")
        }
        let text = "\(log.entries)"
        #expect(text.contains("A release was recorded") && text.contains(#""token": "ci""#))
        #expect(!text.contains("vgr_") && !text.contains(Self.token.dropFirst(4)))
    }

    @Test("10,000 wrong tokens have one answer; those that are none are not looked up", .migratedDatabase)
    func refusesWrongTokens() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(Self.add)
        let connections = Mutex(0)
        try await Self.with({
            connections.withLock { $0 += 1 }
            return database.configuration(user: "versiongate_server")
        }) { recording in
            for number in 0..<9_900 {
                let text = "\(number)"
                let wrong: [String?] = [
                    nil, "", text, "vgr_\(text)", Self.token + text, String(Self.token.dropLast()) + "é",
                    "x" + Self.token,
                ]
                #expect(await Self.send("1.2", token: wrong[number % wrong.count], to: recording) == "unauthorized")
            }
            #expect(connections.withLock(\.self) == 0)
            for number in 100..<200 {
                let wrong = String(Self.token.dropLast(3)) + "\(number)"
                #expect(await Self.send("1.2", token: wrong, to: recording) == "unauthorized")
            }
            #expect(connections.withLock(\.self) == 1)
        }
        #expect(try await owner.query(Self.releases).value(as: Int64.self) == 0)
    }

    @Test("What is no JSON object is said to be none", .migratedDatabase)
    func readsBodies() async throws {
        let database = TestDatabase.current
        try await Self.with({ database.configuration(user: "versiongate_server") }) { recording in
            for body in [
                Array("{".utf8), Array("".utf8), Array("[]".utf8), Array("{}{}".utf8), Array("{'a':1}".utf8), [0xFF],
                [0x7B, 0, 0x7D], Array(#"{"a":"\u0000"}"#.utf8), Array(#"{"a":"\ud800"}"#.utf8),
                Array(String(repeating: "[", count: 16_000).utf8),
            ] {
                let answer = await Self.send("", token: Self.wrongToken, body: body, to: recording)
                #expect(answer?.hasPrefix("unreadable: The body is ") == true, "\(answer ?? "")")
            }
            #expect(
                await Self.send("", token: Self.wrongToken, body: Array("{}".utf8), to: recording) == "unauthorized")
        }
    }

    @Test(
        "Of a thousand at once some wait, and the others are refused at once; all that wait are answered",
        .migratedDatabase)
    func isBounded() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(Self.add)
        let recording = Self.recording(.test(database: { database.configuration(user: "versiongate_server") }))
        let answers = Mutex<[String]>([])
        let body = Array(#"{"bundle":"com.example.doto","version":"1.2","platform":"ios"}"#.utf8)
        let accepted = (0..<1_000).count(where: { _ in
            recording.recorder(SentRelease(token: Self.token, body: body)) { answer in
                answers.withLock { $0.append(Self.words(answer)) }
            }
        })
        #expect(accepted == ReleaseRecording.maximumWaiting)
        #expect(answers.withLock(\.self) == [])
        let run = Task { await recording.run() }
        defer { run.cancel() }
        try await Poll.until("all answers") { answers.withLock(\.count) == accepted }
        #expect(answers.withLock(\.self) == ["added"] + Array(repeating: "recorded", count: accepted - 1))
        #expect(try await owner.query(Self.releases).value(as: Int64.self) == 1)
    }

    @Test("Servers that are sent the same releases at once add each of them once", .migratedDatabase)
    func areSeveral() async throws {
        let database = TestDatabase.current
        let owner = try await database.connect()
        try await owner.execute(Self.add)
        let answers = try await withThrowingTaskGroup(of: [String?].self) { tasks in
            for _ in 0..<4 {
                tasks.addTask {
                    var answers: [String?] = []
                    try await Self.with({ database.configuration(user: "versiongate_server") }) { recording in
                        for version in 1...10 {
                            var answer: String?
                            // On a busy machine the others may hold the app for longer than is waited for.
                            repeat {
                                answer = await Self.send("\(version)", to: recording)
                            } while answer == "unavailable"
                            answers.append(answer)
                        }
                    }
                    return answers
                }
            }
            return try await tasks.reduce(into: []) { $0 += $1 }
        }
        #expect(answers.count(where: { $0 == "added" }) == 10 && answers.count(where: { $0 == "recorded" }) == 30)
        #expect(try await owner.query(Self.releases).value(as: Int64.self) == 10)
    }

    @Test(
        "Without a database, and with one that only reads or is busy, releases are not recorded until it is there again"
    )
    func waitsForTheDatabase() async throws {
        try await OwnServer.with(isMigrated: true) { server in
            let owner = try await server.connect()
            try await owner.execute(Self.add)
            let log = LogRecord()
            let isThere = Mutex(false)
            try await Self.with(
                {
                    isThere.withLock(\.self)
                        ? server.configuration(user: "versiongate_server")
                        : PostgresConfiguration(connectionString: "postgresql://127.0.0.1:1/nothing")
                }, log: log
            ) { recording in
                for _ in 0..<3 { #expect(await Self.send("1.2", to: recording) == "unavailable") }
                isThere.withLock { $0 = true }
                try await owner.execute("ALTER ROLE versiongate_server SET default_transaction_read_only = on")
                #expect(await Self.send("1.2", to: recording) == "unavailable")
                try await owner.execute("ALTER ROLE versiongate_server RESET default_transaction_read_only")
                try await owner.transaction { session in
                    try session.execute("SELECT FROM apps FOR UPDATE")
                    session.hold { #expect(await Self.send("1.2", to: recording) == "unavailable") }
                }
                try await owner.execute(
                    "REVOKE EXECUTE ON FUNCTION record_release(bytea, jsonb) FROM versiongate_server"
                )
                #expect(await Self.send("1.2", to: recording) == "unavailable")
                try await owner.execute("GRANT EXECUTE ON FUNCTION record_release(bytea, jsonb) TO versiongate_server")
                #expect(await Self.send("1.2", to: recording) == "added")
            }
            let failures = log.entries.filter { $0.message == "A release that was sent cannot be recorded" }
            #expect(failures.map(\.level) == [.warning])
            #expect(!"\(log.entries)".contains(Self.token.dropFirst(4)))
        }
    }
}

import Logging
import Postgres
import Synchronization
import TestDatabase
import Testing

@Suite("Notices", .database)
struct NoticeTests {
    @Test("Notices are handed over as they were written, and logged: a warning as one, the others as information")
    func handsOverNotices() async throws {
        let notices = Collector<PostgresNotice>()
        let levels = Collector<Logger.Level>()
        let connection = try await PostgresConnection.connect(
            TestDatabase.current.configuration(),
            logger: Logger(label: "test", factory: { _ in LevelRecorder(levels: levels) }),
            onNotice: { notices.append($0) }
        )
        try await connection.execute(
            """
            DO $$ BEGIN
                RAISE WARNING 'platforms without a way out: %', 'ios' USING DETAIL = 'd', HINT = 'h';
                RAISE NOTICE 'by the way';
                RAISE INFO 'i';
            END $$
            """
        )
        #expect(notices.values.map(\.severity) == ["WARNING", "NOTICE", "INFO"])
        #expect(notices.values.map(\.sqlState?.rawValue) == ["01000", "00000", "00000"])
        #expect(notices.values.map(\.message) == ["platforms without a way out: ios", "by the way", "i"])
        #expect(notices.values.map(\.detail) == ["d", nil, nil])
        #expect(notices.values.map(\.hint) == ["h", nil, nil])
        #expect(notices.values.map(\.isWarning) == [true, false, false])
        #expect(levels.values == [.warning, .info, .info])
    }
}

/// What happened, in order.
private final class Collector<Value: Sendable>: Sendable {
    private let storage = Mutex<[Value]>([])

    var values: [Value] { storage.withLock { $0 } }

    func append(_ value: Value) { storage.withLock { $0.append(value) } }
}

/// A log handler that keeps the levels of what is logged.
private struct LevelRecorder: LogHandler {
    let levels: Collector<Logger.Level>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { levels.append(event.level) }
}

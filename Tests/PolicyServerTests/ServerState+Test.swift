import Logging
import Postgres
import UpdatePolicy

@testable import PolicyServer

extension ServerState {
    /// What the parts of a server share whose database is not there, unless one is given, and whose log is nowhere.
    static func test(
        database: @escaping @Sendable () -> PostgresConfiguration = {
            PostgresConfiguration(connectionString: "postgresql://127.0.0.1:1/nothing")
        },
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        clock: @escaping @Sendable () -> Timestamp = { Timestamp(microsecondsSince1970: 1_772_366_400_000_000) }
    ) -> ServerState {
        ServerState(database: { database() }, clock: clock, logger: logger)
    }
}

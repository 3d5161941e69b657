import CheckListener
import Logging
import Postgres
import UpdatePolicy

/// What the parts of one server share.
struct ServerState: Sendable {
    let policy = LivePolicy()
    /// What the public listener counts of connections and requests.
    let statistics = ListenerStatistics()
    /// Counts the checks; nil: they are not counted, and no fuse blows.
    var counting: CheckCounting?
    /// The certificate of the public listener; nil: it has none.
    var tls: ReloadedCertificate?
    /// The key that signs lockouts; nil: none does.
    var lockoutKey: ReloadedLockoutKey?
    /// The brake; nil: there is none.
    var brake: BrakeFile?
    /// Where an earlier run kept its policy, and this one keeps its own; nil: nowhere.
    var file: LastGoodPolicyFile?
    /// Notes which policy is taken, in case that the server dies of it; nil: nothing does.
    var trial: PolicyTrial?
    /// Where log messages go; nil: nowhere that is known of.
    var log: LineOutput?
    /// Where the database is, asked before each connection; may bring the database up.
    let database: @Sendable () async throws -> PostgresConfiguration
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    /// Where counts are written: only a primary can be, so libpq must choose that one of several hosts.
    func primary() async throws -> PostgresConfiguration {
        var configuration = try await database()
        configuration.overrides["target_session_attrs"] = "read-write"
        return configuration
    }

    /// Runs `body` with a new connection, which is closed at the end.
    func withConnection<Result: Sendable>(
        to configuration: PostgresConfiguration,
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }
}

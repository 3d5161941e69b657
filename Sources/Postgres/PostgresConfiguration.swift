/// The address of a PostgreSQL database, and the limits on waiting for it.
///
/// The connection string is a secret: no description of this type shows it.
public struct PostgresConfiguration: Sendable {
    /// A `postgresql://` address, `keyword=value` pairs, or the bare name of a database, as libpq reads them.
    public var connectionString: String

    /// Connection keywords of libpq, such as `user`, `dbname` or `host`, that win over the connection string.
    public var overrides: [String: String]

    /// The name that the server shows for the connection, unless the connection string has an `application_name`.
    public var applicationName: String

    /// The time to wait for each host to accept the connection, unless the connection string has a
    /// `connect_timeout`; that of a service does not count. Counted in whole seconds; libpq waits for two at least.
    public var connectTimeout: Duration

    /// The time that a single wait for the server may last with nothing arriving, before the connection is given up.
    ///
    /// This is what ends a query on a server that was suspended or whose network went away. A statement that
    /// rightly computes for longer needs a larger bound.
    public var responseTimeout: Duration

    /// The server's own bound on a statement (`statement_timeout`); nil for none, so that ``responseTimeout`` alone holds.
    ///
    /// This and ``lockTimeout`` are settings of a session, which a pooler in transaction mode does not keep.
    public var statementTimeout: Duration?

    /// The server's own bound on the wait for a lock (`lock_timeout`); nil for 10 seconds.
    public var lockTimeout: Duration?

    /// Creates a configuration.
    public init(
        connectionString: String,
        overrides: [String: String] = [:],
        applicationName: String = "versiongate",
        connectTimeout: Duration = .seconds(5),
        responseTimeout: Duration = .seconds(60),
        statementTimeout: Duration? = nil,
        lockTimeout: Duration? = nil
    ) {
        self.connectionString = connectionString
        self.overrides = overrides
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.responseTimeout = responseTimeout
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
    }
}

extension PostgresConfiguration {
    /// The settings of a session, by name, each with its value as SQL.
    ///
    /// Any role may set defaults for its own sessions, and so for everybody who logs in as it: these are what our
    /// statements, and the answers that we read, rely on.
    var sessionSettings: [String: String] {
        [
            "search_path": "public, pg_temp",
            "standard_conforming_strings": "on",
            "default_transaction_read_only": "off",
            "client_min_messages": "notice",
            "DateStyle": "'ISO, YMD'",
            "IntervalStyle": "postgres",
            "statement_timeout": String(statementTimeout?.milliseconds ?? 0),
            "lock_timeout": String((lockTimeout ?? .seconds(10)).milliseconds),
            "idle_in_transaction_session_timeout": "'5min'",
            "idle_session_timeout": "0",
        ]
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the application alone.
    public var description: String { "PostgresConfiguration(\(applicationName))" }

    /// The name of the application alone.
    public var debugDescription: String { description }

    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Duration {
    /// Whole milliseconds, rounded up, at most what 32 bits hold.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return Int64(Int32.max) }
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

import CLibpq
import Glibc

/// The address of a PostgreSQL database, and the limits on waiting for it.
///
/// The connection string is a secret: no description of this type shows it.
package struct PostgresConfiguration: Sendable {
    /// A `postgresql://` address, `keyword=value` pairs, or the bare name of a database, as libpq reads them.
    package var connectionString: String

    /// Connection keywords of libpq, such as `user`, `dbname` or `host`, that win over the connection string.
    package var overrides: [String: String] = [:]

    /// The name that the server shows for the connection, unless the connection string has an `application_name`.
    package var applicationName = "versiongate"

    /// The time to wait for each host to accept the connection, unless the connection string has a
    /// `connect_timeout`; that of a service does not count. Counted in whole seconds; libpq waits for two at least.
    package var connectTimeout: Duration = .seconds(5)

    /// The time that a single wait for the server may last with nothing arriving, before the connection is given up.
    ///
    /// This is what ends a query on a server that was suspended or whose network went away. A statement that
    /// rightly computes for longer needs a larger bound.
    package var responseTimeout: Duration = .seconds(60)

    package init(connectionString: String, overrides: [String: String] = [:]) {
        self.connectionString = connectionString
        self.overrides = overrides
    }

    /// The settings of a session, by name, each with its value as SQL.
    ///
    /// Any role may set defaults for its own sessions, and so for everybody who logs in as it: these are what our
    /// statements, and the answers that we read, rely on. A pooler in transaction mode does not keep them.
    static let sessionSettings: KeyValuePairs = [
        "search_path": "public, pg_temp",
        "standard_conforming_strings": "on",
        "default_transaction_read_only": "off",
        "client_min_messages": "notice",
        "DateStyle": "'ISO, YMD'",
        "IntervalStyle": "postgres",
        "statement_timeout": "0",
        "lock_timeout": "'10s'",
        "idle_in_transaction_session_timeout": "'5min'",
        "idle_session_timeout": "0",
    ]

    /// The keywords and values for `PQconnectdbParams`. Those before `dbname` are defaults that the connection string
    /// may override; those after it win over it.
    func connectionParameters() throws(PostgresError) -> [(keyword: String, value: String)] {
        try check()
        var parameters: [(keyword: String, value: String)] = [
            ("connect_timeout", String(max(1, connectTimeout.components.seconds))),
            ("fallback_application_name", applicationName),
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "60000"), ("dbname", connectionString),
        ]
        for (keyword, value) in overrides.sorted(by: { $0.key < $1.key }) { parameters.append((keyword, value)) }
        parameters.append(("client_encoding", "UTF8"))
        return parameters
    }

    /// Refuses what libpq could not read, or would read as something else, without quoting any of it.
    private func check() throws(PostgresError) {
        let texts = [connectionString, applicationName] + overrides.flatMap { [$0.key, $0.value] }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else { throw .unreadable("it holds a NUL character") }
        let isAddress = ["postgresql://", "postgres://"].contains { connectionString.hasPrefix($0) }
        guard isAddress || connectionString.contains("=") else { return }
        for option in try options() {
            switch (option.keyword, option.value) {
            case ("host", let value?), ("dbname", let value?):
                guard !isAddress || value.hasPrefix("/") || !value.contains("@") else {
                    throw .unreadable("there is more than one '@' in it")
                }
            case ("port", let value?):
                let ports = value.split(separator: ",", omittingEmptySubsequences: false)
                guard ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil }) else {
                    throw .unreadable("the port is not a number from 1 to 65535")
                }
            default: break
            }
        }
    }

    /// All options of libpq, with the values that the connection string gives them.
    ///
    /// What libpq says about an unreadable one is not shown: its messages show pieces of a password whose special
    /// characters were not percent-encoded.
    private func options() throws(PostgresError) -> [(keyword: String, variable: String?, value: String?)] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connectionString, &message) else {
            defer { PQfreemem(message) }
            // Of libpq's message only the name of an option, which is no password.
            let option = message.flatMap {
                String(cString: $0).firstMatch(of: #/^invalid connection option "([a-z_]{1,32})"/#)
            }
            throw .unreadable(option.map { "there is no option \"\($0.1)\"" })
        }
        defer { PQconninfoFree(options) }
        var all: [(keyword: String, variable: String?, value: String?)] = []
        var option = options
        while let keyword = option.pointee.keyword {
            let (variable, value) = (option.pointee.envvar, option.pointee.val)
            all.append(
                (String(cString: keyword), variable.map { String(cString: $0) }, value.map { String(cString: $0) }))
            option += 1
        }
        return all
    }
}

// MARK: What other programs need of a connection string

extension PostgresConfiguration {
    /// The connection string as environment variables for programs that use libpq, such as psql.
    ///
    /// So a password is in no argument list, which every user of the machine can read. Settings that libpq reads from
    /// no environment variable are left out.
    ///
    /// - Throws: `.connectionFailed` if libpq cannot read the connection string.
    package func environment() throws(PostgresError) -> [String: String] {
        try options().reduce(into: [:]) { environment, option in
            guard let variable = option.variable else { return }
            environment[variable] = overrides[option.keyword] ?? option.value
        }
    }

    /// The service that the connection string names, for which libpq looks up the rest when it connects.
    package var service: String? { (try? options())?.first { $0.keyword == "service" }?.value }

    /// How the service is written, and where, if that is what a failed connection lacks.
    func serviceHint(_ message: String) -> String? {
        guard message.hasPrefix("definition of service ") || message.contains("service file "), let service else {
            return nil
        }
        let variable = getenv("PGSERVICEFILE").map { String(cString: $0) }
        let file = variable ?? getenv("HOME").map { String(cString: $0) + "/.pg_service.conf" } ?? "~/.pg_service.conf"
        return "Add it to \(file): [\(service)], then lines with host=HOST, dbname=DATABASE and user=USER."
    }

    /// The connection string that names a service.
    package static func address(ofService name: String) -> String { "service=\(quoted(name))" }

    /// The connection string without any password; itself where it has none, nil where libpq cannot read it.
    package var addressWithoutPassword: String? {
        guard let options = try? options() else { return nil }
        let given = options.compactMap { option in option.value.map { (option.keyword, $0) } }
        let shown = given.filter { !["password", "sslpassword"].contains($0.0) }
        guard shown.count < given.count else { return connectionString }
        return shown.map { "\($0)=\(Self.quoted($1))" }.joined(separator: " ")
    }

    private static func quoted(_ value: String) -> String {
        guard value.isEmpty || value.contains(where: { " '\\".contains($0) }) else { return value }
        return "'\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}

extension PostgresError {
    fileprivate static func unreadable(_ reason: String?) -> PostgresError {
        PostgresError(
            .connectionFailed,
            "the connection string cannot be read" + (reason.map { ": \($0)" } ?? ""),
            hint: "Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, special characters percent-encoded "
                + "(@ is %40, / is %2F, : is %3A, % is %25), or as keyword=value pairs."
        )
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the application alone.
    package var description: String { "PostgresConfiguration(\(applicationName))" }

    package var debugDescription: String { description }

    /// No children, so that `dump` shows no secret.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Duration {
    /// Whole milliseconds, rounded up, at most what 32 bits hold.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return Int64(Int32.max) }
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

import CLibpq
import Glibc

/// A connection of libpq with every wait bounded and ended by the cancellation of the task.
///
/// One thread at a time uses it. Every function that waits is given `isCancellable`; those that tidy up after a
/// cancelled task are not.
final class LibpqConnection {
    private(set) var connection: OpaquePointer?
    private let notices: NoticeReceiver
    let wakeup: Wakeup
    var responseTimeout: Duration

    /// Connects, which blocks for at most the connect timeout for each address, and for the resolver of host names.
    init(
        _ configuration: PostgresConfiguration,
        notices: NoticeReceiver,
        wakeup: Wakeup
    ) throws(PostgresError) {
        self.notices = notices
        self.wakeup = wakeup
        responseTimeout = configuration.responseTimeout
        let parameters = try ConnectionParameters(configuration)
        connection = parameters.withPointers { PQconnectdbParams($0, $1, 1) }
        guard PQstatus(connection) == CONNECTION_OK, let connection else {
            let message = PostgresError.oneLine(PQerrorMessage(connection))
            close()
            throw PostgresError(.connectionFailed, message, hint: Self.hint(message, configuration.service))
        }
        notices.attach(to: connection)
        guard PQsetnonblocking(connection, 1) == 0 else { throw lost() }
        try configureSession(configuration)
    }

    deinit { close() }

    /// How a service is written, and where.
    private static func hint(_ message: String, _ service: String?) -> String? {
        guard let service, message.hasPrefix("definition of service ") || message.contains("service file ") else {
            return nil
        }
        let variable = getenv("PGSERVICEFILE").map { String(cString: $0) }
        let file = variable ?? getenv("HOME").map { String(cString: $0) + "/.pg_service.conf" } ?? "~/.pg_service.conf"
        return "Add it to \(file): [\(service)], then lines with host=HOST, dbname=DATABASE and user=USER."
    }

    /// Sets what our statements rely on, since every role may set defaults for its own sessions to come.
    private func configureSession(_ configuration: PostgresConfiguration) throws(PostgresError) {
        let settings = configuration.sessionSettings.sorted { $0.key < $1.key }
        let assignments = settings.map { "SET \($0.key) = \($0.value);" }.joined()
        try execute(assignments, isCancellable: true)
    }

    /// Ends the connection; it is not used again.
    func close() {
        PQfinish(connection)
        connection = nil
    }

    var isOpen: Bool { connection != nil }

    /// The version of the server as libpq gives it, such as 150018 for 15.18; 0 when closed.
    var serverVersion: Int { Int(PQserverVersion(connection)) }

    /// The process ID of the server process, as the connection received it at its start; 0 when closed.
    var backendPID: Int32 { PQbackendPID(connection) }

    /// Host, port and database as libpq knows them; nil when closed.
    var address: String? {
        guard let connection, let host = PQhost(connection), let port = PQport(connection), let name = PQdb(connection)
        else { return nil }
        let hostText = String(cString: host)
        let isIPv6 = hostText.contains(":") && !hostText.hasPrefix("/")
        return "\(isIPv6 ? "[\(hostText)]" : hostText):\(String(cString: port))/\(String(cString: name))"
    }

    /// A setting that the server reports by itself, such as `in_hot_standby`.
    func reportedSetting(_ name: String) -> String? {
        guard let connection else { return nil }
        return PQparameterStatus(connection, name).map { String(cString: $0) }
    }
}

/// An error of a connection to a PostgreSQL server, or of a statement.
///
/// The `description` is meant for logs: it holds no parameter, no password and no connection string, and leaves out
/// the server's DETAIL, which may quote rows. A command line that answers the person who wrote the statement shows
/// `message`, `detail` and `hint` itself.
public struct PostgresError: Error, Sendable, Hashable {
    /// The kind of failure.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as shown in descriptions.
        public let description: String

        /// No connection could be made.
        public static let connectionFailed = Code(description: "connection failed")
        /// The connection broke while it was in use; it cannot be used again.
        public static let connectionLost = Code(description: "connection lost")
        /// The server refused the statement; the connection can be used again.
        public static let server = Code(description: "server error")
        /// The server did not answer in time; the connection is closed.
        public static let timeout = Code(description: "timeout")
        /// The task was cancelled.
        public static let cancelled = Code(description: "cancelled")
        /// A value from the server is not what the caller asked for.
        public static let decoding = Code(description: "decoding")
        /// A value cannot be sent to the server.
        public static let encoding = Code(description: "encoding")
        /// The connection was closed before, or the session's time is over.
        public static let closed = Code(description: "closed")
        /// The caller used the connection in a way it does not support.
        public static let misuse = Code(description: "misuse")
    }

    /// The kind of failure.
    public var code: Code
    /// The five characters by which the server names the fault; nil if the server did not report one.
    public var sqlState: PostgresSQLState?
    /// `ERROR`, `FATAL` or `PANIC`, never translated; nil if the fault was found on this side.
    public var severity: String?
    /// The fault in a sentence.
    public var message: String
    /// More about the fault; may quote rows.
    public var detail: String?
    /// What to do about it.
    public var hint: String?
    /// The schema of the object that the error names.
    public var schema: String?
    /// The table that the error names.
    public var table: String?
    /// The column that the error names.
    public var column: String?
    /// The data type that the error names, or what RAISE gives as DATATYPE.
    public var dataType: String?
    /// The constraint that was violated.
    public var constraint: String?
    /// Where in the statement the fault is, counted in characters from 1.
    public var position: Int?
    /// The server's call stack, for faults inside functions; may quote statements.
    public var context: String?

    /// Creates an error of a kind, with the fault in a sentence.
    public init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}

extension PostgresError: CustomStringConvertible {
    /// Kind, SQLSTATE, message and constraint in one line.
    ///
    /// The message of a data exception (SQLSTATE class 22) is left out because it quotes the value.
    public var description: String {
        var text = code.description
        if let sqlState { text += " \(sqlState)" }
        if sqlState?.isDataException != true { text += ": \(message)" }
        if let constraint { text += " (constraint \(constraint))" }
        return text
    }
}

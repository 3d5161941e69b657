import CLibpq

/// An error of a connection to a PostgreSQL server, or of a statement.
///
/// The `description` is meant for logs: it holds no parameter, no password and no connection string, and leaves out
/// the server's DETAIL, which may quote rows. A command line that answers the person who wrote the statement shows
/// `message`, `detail` and `hint` itself.
package struct PostgresError: Error, Sendable, Hashable {
    package enum Code: String, Sendable {
        case connectionFailed = "connection failed"
        /// The connection broke while it was in use; it cannot be used again.
        case connectionLost = "connection lost"
        /// The server refused the statement; the connection can be used again.
        case server = "server error"
        /// The server did not answer in time; the connection is closed.
        case timeout
        case cancelled
        /// A value from the server is not what the caller asked for.
        case decoding
        /// A value cannot be sent to the server.
        case encoding
        case closed
        /// The caller used the connection in a way it does not support.
        case misuse
    }

    package var code: Code
    /// The five characters by which the server names the fault; nil if the server did not report one.
    package var sqlState: PostgresSQLState?
    /// `ERROR`, `FATAL` or `PANIC`, never translated; nil if the fault was found on this side.
    package var severity: String?
    /// The fault in a sentence.
    package var message: String
    /// More about the fault; may quote rows.
    package var detail: String?
    /// What to do about it.
    package var hint: String?
    package var table: String?
    package var column: String?
    /// The data type that the error names, or what RAISE gives as DATATYPE.
    package var dataType: String?
    package var constraint: String?

    package init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// What the server says in a result, be it an error or a notice.
    ///
    /// FATAL and PANIC mean that the server is closing the connection.
    init(_ result: OpaquePointer) {
        func field(_ name: Int32) -> String? { PQresultErrorField(result, name).map { String(cString: $0) } }
        severity = field(VG_DIAG_SEVERITY)
        code = severity == nil || severity == "FATAL" || severity == "PANIC" ? .connectionLost : .server
        message = field(VG_DIAG_MESSAGE) ?? Self.oneLine(PQresultErrorMessage(result))
        sqlState = field(VG_DIAG_SQLSTATE).map(PostgresSQLState.init(rawValue:))
        detail = field(VG_DIAG_DETAIL)
        hint = field(VG_DIAG_HINT)
        table = field(VG_DIAG_TABLE)
        column = field(VG_DIAG_COLUMN)
        dataType = field(VG_DIAG_DATATYPE)
        constraint = field(VG_DIAG_CONSTRAINT)
    }

    /// A message of libpq's own, its lines joined.
    static func oneLine(_ message: UnsafePointer<CChar>?) -> String {
        guard let message else { return "no reason was given" }
        let lines = String(cString: message).split(whereSeparator: \.isNewline)
        return lines.reduce(into: "") { text, line in
            let isContinuation = line.first == "\t"
            if !text.isEmpty { text += isContinuation ? ". " : "; " }
            text += line.drop(while: \.isWhitespace)
        }
    }
}

extension PostgresError: CustomStringConvertible {
    /// Kind, SQLSTATE, message and constraint in one line.
    ///
    /// The message of a data exception (SQLSTATE class 22) is left out because it quotes the value.
    package var description: String {
        var text = code.rawValue
        if let sqlState { text += " \(sqlState.rawValue)" }
        if sqlState?.isDataException != true { text += ": \(message)" }
        if let constraint { text += " (constraint \(constraint))" }
        return text
    }
}

/// A message that the server sends beside the answer, such as what RAISE WARNING writes. Its severity is `WARNING`,
/// `NOTICE`, `INFO`, `LOG` or `DEBUG`; on an idle connection also `FATAL`.
package typealias PostgresNotice = PostgresError

extension PostgresNotice {
    /// Whether the notice is a warning or worse.
    package var isWarning: Bool { !["NOTICE", "INFO", "LOG", "DEBUG"].contains(severity) }
}

/// The five-character code by which PostgreSQL names a fault, as listed in appendix A of its manual.
package struct PostgresSQLState: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// Whether the fault is in a value (class 22); such messages quote it.
    package var isDataException: Bool { rawValue.hasPrefix("22") }

    /// Whether a constraint was violated (class 23).
    package var isIntegrityViolation: Bool { rawValue.hasPrefix("23") }

    /// Also what a hot standby says to a transaction that is to write.
    package static let featureNotSupported = Self(rawValue: "0A000")
    /// No day of the calendar, or no time of a day.
    package static let datetimeFieldOverflow = Self(rawValue: "22008")
    /// Also what a hot standby says to a write.
    package static let readOnlyTransaction = Self(rawValue: "25006")
    /// Another transaction has written what this one would.
    package static let serializationFailure = Self(rawValue: "40001")
    package static let deadlockDetected = Self(rawValue: "40P01")
    package static let dependentObjectsStillExist = Self(rawValue: "2BP01")
    package static let insufficientPrivilege = Self(rawValue: "42501")
    package static let undefinedTable = Self(rawValue: "42P01")
    /// The lock timeout passed.
    package static let lockNotAvailable = Self(rawValue: "55P03")
    /// The statement timeout passed, or somebody cancelled the statement.
    package static let queryCanceled = Self(rawValue: "57014")
}

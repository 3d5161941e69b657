import CLibpq

extension PostgresError {
    /// The error of the server in a result of status fatal.
    ///
    /// FATAL and PANIC mean that the server is closing the connection.
    init(result: OpaquePointer) {
        let fields = DiagnosticFields(result)
        let severity = fields[VG_DIAG_SEVERITY]
        let isLost = severity == nil || severity == "FATAL" || severity == "PANIC"
        let message = fields[VG_DIAG_MESSAGE] ?? Self.oneLine(PQresultErrorMessage(result))
        self.init(isLost ? .connectionLost : .server, message, hint: fields[VG_DIAG_HINT])
        self.severity = severity
        sqlState = fields[VG_DIAG_SQLSTATE].map(PostgresSQLState.init(rawValue:))
        detail = fields[VG_DIAG_DETAIL]
        schema = fields[VG_DIAG_SCHEMA]
        table = fields[VG_DIAG_TABLE]
        column = fields[VG_DIAG_COLUMN]
        dataType = fields[VG_DIAG_DATATYPE]
        constraint = fields[VG_DIAG_CONSTRAINT]
        position = fields[VG_DIAG_POSITION].flatMap { Int($0) }
        context = fields[VG_DIAG_CONTEXT]
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

/// The fields of an error or a notice in a result of libpq.
struct DiagnosticFields {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    subscript(field: Int32) -> String? {
        PQresultErrorField(result, field).map { String(cString: $0) }
    }
}

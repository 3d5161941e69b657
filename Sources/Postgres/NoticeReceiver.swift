import CLibpq
import Logging

/// Logs the notices that the server of a connection sends, and passes them to a callback.
final class NoticeReceiver {
    private let logger: Logger
    private let handler: (@Sendable (PostgresNotice) -> Void)?

    init(logger: Logger, handler: (@Sendable (PostgresNotice) -> Void)?) {
        self.logger = logger
        self.handler = handler
    }

    /// Makes libpq call this receiver. The connection's owner keeps the receiver for as long as the connection.
    func attach(to connection: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().receive(result)
            },
            context
        )
    }

    private func receive(_ result: OpaquePointer) {
        let fields = DiagnosticFields(result)
        let notice = PostgresNotice(
            severity: fields[VG_DIAG_SEVERITY] ?? "NOTICE",
            sqlState: fields[VG_DIAG_SQLSTATE].map(PostgresSQLState.init(rawValue:)),
            message: fields[VG_DIAG_MESSAGE] ?? "", detail: fields[VG_DIAG_DETAIL], hint: fields[VG_DIAG_HINT],
            constraint: fields[VG_DIAG_CONSTRAINT], dataType: fields[VG_DIAG_DATATYPE]
        )
        logger.log(
            level: level(of: notice),
            "PostgreSQL sent a notice",
            metadata: [
                "postgres.severity": "\(notice.severity)",
                "postgres.sqlstate": "\(notice.sqlState?.rawValue ?? "")",
                "postgres.message": "\(notice.message)",
            ]
        )
        handler?(notice)
    }

    private func level(of notice: PostgresNotice) -> Logger.Level {
        if notice.isWarning { return .warning }
        return notice.severity.hasPrefix("DEBUG") ? .debug : .info
    }
}

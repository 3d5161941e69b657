/// A message that the server sends beside the answer, such as what RAISE WARNING writes.
public struct PostgresNotice: Sendable, Hashable {
    /// `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`, never translated; on an idle connection also `FATAL`.
    public var severity: String
    /// The code of the message; nil where the server gave none.
    public var sqlState: PostgresSQLState?
    /// The message in a sentence.
    public var message: String
    /// More about it; may quote rows.
    public var detail: String?
    /// What to do about it.
    public var hint: String?
    /// The constraint, or the like, that it is about.
    public var constraint: String?
    /// The data type that it names, or what RAISE gives as DATATYPE.
    public var dataType: String?

    /// Creates a notice.
    public init(
        severity: String,
        sqlState: PostgresSQLState? = nil,
        message: String,
        detail: String? = nil,
        hint: String? = nil,
        constraint: String? = nil,
        dataType: String? = nil
    ) {
        self.severity = severity
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.hint = hint
        self.constraint = constraint
        self.dataType = dataType
    }

    /// Whether the notice is a warning or worse.
    public var isWarning: Bool { !["NOTICE", "INFO", "LOG", "DEBUG"].contains(severity) }
}

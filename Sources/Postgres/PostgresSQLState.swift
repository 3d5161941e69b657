/// The five-character code by which PostgreSQL names a fault, as listed in appendix A of its manual.
public struct PostgresSQLState: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The five characters.
    public let rawValue: String

    /// Takes the five characters as they are.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The five characters.
    public var description: String { rawValue }

    /// Whether the fault is in a value (class 22); such messages quote it.
    public var isDataException: Bool { rawValue.hasPrefix("22") }

    /// Whether a constraint was violated (class 23).
    public var isIntegrityViolation: Bool { rawValue.hasPrefix("23") }

    /// `feature_not_supported`: also what a hot standby says to a transaction that is to write.
    public static let featureNotSupported = Self(rawValue: "0A000")
    /// `no_data_found`.
    public static let noDataFound = Self(rawValue: "P0002")
    /// `datetime_field_overflow`: no day of the calendar, or no time of a day.
    public static let datetimeFieldOverflow = Self(rawValue: "22008")
    /// `not_null_violation`.
    public static let notNullViolation = Self(rawValue: "23502")
    /// `foreign_key_violation`.
    public static let foreignKeyViolation = Self(rawValue: "23503")
    /// `unique_violation`.
    public static let uniqueViolation = Self(rawValue: "23505")
    /// `check_violation`.
    public static let checkViolation = Self(rawValue: "23514")
    /// `read_only_sql_transaction`: also what a hot standby says to a write.
    public static let readOnlyTransaction = Self(rawValue: "25006")
    /// `serialization_failure`: another transaction has written what this one would.
    public static let serializationFailure = Self(rawValue: "40001")
    /// `deadlock_detected`.
    public static let deadlockDetected = Self(rawValue: "40P01")
    /// `dependent_objects_still_exist`.
    public static let dependentObjectsStillExist = Self(rawValue: "2BP01")
    /// `insufficient_privilege`.
    public static let insufficientPrivilege = Self(rawValue: "42501")
    /// `undefined_table`.
    public static let undefinedTable = Self(rawValue: "42P01")
    /// `object_not_in_prerequisite_state`.
    public static let objectNotInPrerequisiteState = Self(rawValue: "55000")
    /// `lock_not_available`: the lock timeout passed.
    public static let lockNotAvailable = Self(rawValue: "55P03")
    /// `query_canceled`: the statement timeout passed, or somebody cancelled the statement.
    public static let queryCanceled = Self(rawValue: "57014")
    /// `admin_shutdown`: the server stops, or somebody ended the connection.
    public static let adminShutdown = Self(rawValue: "57P01")
}

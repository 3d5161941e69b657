/// A data type of PostgreSQL, by its object identifier in `pg_type`.
public struct PostgresType: RawRepresentable, Sendable, Hashable {
    /// The object identifier.
    public let rawValue: UInt32

    /// Takes any object identifier.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Left to the server: it infers the type of the parameter from the context in the statement.
    public static let unspecified = Self(rawValue: 0)
    /// `boolean`.
    public static let bool = Self(rawValue: 16)
    /// `bytea`.
    public static let bytea = Self(rawValue: 17)
    /// `"char"`, a single byte.
    public static let char = Self(rawValue: 18)
    /// `name`.
    public static let name = Self(rawValue: 19)
    /// `bigint`.
    public static let int8 = Self(rawValue: 20)
    /// `smallint`.
    public static let int2 = Self(rawValue: 21)
    /// `integer`.
    public static let int4 = Self(rawValue: 23)
    /// `text`.
    public static let text = Self(rawValue: 25)
    /// `oid`.
    public static let oid = Self(rawValue: 26)
    /// `json`.
    public static let json = Self(rawValue: 114)
    /// `real`.
    public static let float4 = Self(rawValue: 700)
    /// `double precision`.
    public static let float8 = Self(rawValue: 701)
    /// A literal of undecided type.
    public static let unknown = Self(rawValue: 705)
    /// `character(n)`.
    public static let bpchar = Self(rawValue: 1042)
    /// `character varying`.
    public static let varchar = Self(rawValue: 1043)
    /// `timestamp with time zone`.
    public static let timestamptz = Self(rawValue: 1184)
    /// `uuid`.
    public static let uuid = Self(rawValue: 2950)
    /// `jsonb`.
    public static let jsonb = Self(rawValue: 3802)

    static let boolArray = Self(rawValue: 1000)
    static let byteaArray = Self(rawValue: 1001)
    static let int2Array = Self(rawValue: 1005)
    static let int4Array = Self(rawValue: 1007)
    static let textArray = Self(rawValue: 1009)
    static let int8Array = Self(rawValue: 1016)
    static let float8Array = Self(rawValue: 1022)
    static let timestamptzArray = Self(rawValue: 1185)
    static let nameArray = Self(rawValue: 1003)
    static let bpcharArray = Self(rawValue: 1014)
    static let varcharArray = Self(rawValue: 1015)
    static let oidArray = Self(rawValue: 1028)
    static let float4Array = Self(rawValue: 1021)
    static let charArray = Self(rawValue: 1002)
    static let jsonArray = Self(rawValue: 199)
    static let jsonbArray = Self(rawValue: 3807)
    static let uuidArray = Self(rawValue: 2951)

    private static let arrays: Set<PostgresType> = [
        .boolArray, .byteaArray, .int2Array, .int4Array, .textArray, .int8Array, .float8Array, .timestamptzArray,
        .nameArray, .bpcharArray, .varcharArray, .oidArray, .float4Array, .charArray, .jsonArray, .jsonbArray,
        .uuidArray,
    ]

    /// Whether it is an array of one of the types that can be decoded.
    var isArray: Bool { Self.arrays.contains(self) }
}

extension PostgresType: CustomStringConvertible {
    private static let names: [PostgresType: String] = [
        .bool: "boolean", .bytea: "bytea", .char: "\"char\"", .name: "name", .int8: "bigint", .int2: "smallint",
        .int4: "integer", .text: "text", .oid: "oid", .json: "json", .float4: "real", .float8: "double precision",
        .unknown: "unknown", .bpchar: "character", .varchar: "character varying",
        .timestamptz: "timestamp with time zone", .uuid: "uuid", .jsonb: "jsonb", .boolArray: "boolean[]",
        .byteaArray: "bytea[]", .int2Array: "smallint[]", .int4Array: "integer[]", .textArray: "text[]",
        .int8Array: "bigint[]", .float8Array: "double precision[]", .timestamptzArray: "timestamp with time zone[]",
        Self(rawValue: 1700): "numeric", Self(rawValue: 1114): "timestamp without time zone",
        Self(rawValue: 1082): "date", Self(rawValue: 1186): "interval", Self(rawValue: 2278): "void",
    ]

    /// The name of the type in SQL, or its oid if it is not a known type.
    public var description: String { Self.names[self] ?? "the type with oid \(rawValue)" }
}

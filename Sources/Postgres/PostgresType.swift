/// A data type of PostgreSQL, by its object identifier in `pg_type`.
package struct PostgresType: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Left to the server: it infers the type of the parameter from the context in the statement.
    package static let unspecified = Self(rawValue: 0)
    package static let bool = Self(rawValue: 16)
    /// `"char"`, a single byte.
    package static let char = Self(rawValue: 18)
    package static let name = Self(rawValue: 19)
    package static let int8 = Self(rawValue: 20)
    package static let int2 = Self(rawValue: 21)
    package static let int4 = Self(rawValue: 23)
    package static let text = Self(rawValue: 25)
    package static let oid = Self(rawValue: 26)
    package static let json = Self(rawValue: 114)
    package static let float4 = Self(rawValue: 700)
    package static let float8 = Self(rawValue: 701)
    /// A literal of undecided type.
    package static let unknown = Self(rawValue: 705)
    package static let bpchar = Self(rawValue: 1042)
    package static let varchar = Self(rawValue: 1043)
    package static let timestamptz = Self(rawValue: 1184)
    package static let uuid = Self(rawValue: 2950)
    package static let jsonb = Self(rawValue: 3802)

    /// The names of types in SQL, and the identifiers of the arrays of those that can be decoded.
    private static let known: [Self: (name: String, array: UInt32?)] = [
        .bool: ("boolean", 1000), .char: ("\"char\"", 1002), .name: ("name", 1003), .int8: ("bigint", 1016),
        .int2: ("smallint", 1005), .int4: ("integer", 1007), .text: ("text", 1009), .oid: ("oid", 1028),
        .json: ("json", 199), .float4: ("real", 1021), .float8: ("double precision", 1022), .unknown: ("unknown", nil),
        .bpchar: ("character", 1014), .varchar: ("character varying", 1015),
        .timestamptz: ("timestamp with time zone", 1185), .uuid: ("uuid", 2951), .jsonb: ("jsonb", 3807),
        Self(rawValue: 17): ("bytea", nil), Self(rawValue: 1700): ("numeric", nil),
        Self(rawValue: 1114): ("timestamp without time zone", nil), Self(rawValue: 1082): ("date", nil),
        Self(rawValue: 1186): ("interval", nil), Self(rawValue: 2278): ("void", nil),
    ]

    private static let elements: [Self: Self] = known.reduce(into: [:]) { elements, type in
        if let array = type.value.array { elements[Self(rawValue: array)] = type.key }
    }

    /// The type of arrays of it; unspecified if there is none that is known.
    var array: Self { Self.known[self]?.array.map(Self.init(rawValue:)) ?? .unspecified }

    /// Whether it is an array of one of the types that can be decoded.
    var isArray: Bool { Self.elements[self] != nil }
}

extension PostgresType: CustomStringConvertible {
    /// The name of the type in SQL, or its oid if it is not a known type.
    package var description: String {
        Self.known[self]?.name ?? Self.elements[self].map { "\($0)[]" } ?? "the type with oid \(rawValue)"
    }
}

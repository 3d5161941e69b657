import CLibpq

/// A column of a result.
public struct PostgresColumn: Sendable, Hashable {
    /// Its name, as the statement gives it.
    public let name: String
    /// Its type.
    public let type: PostgresType
}

/// The columns of a result, found by name once for all its rows.
@usableFromInline
final class PostgresColumns: Sendable {
    let list: [PostgresColumn]
    private let indexes: [String: Int]

    init(_ result: OpaquePointer) {
        let list = (0..<PQnfields(result)).map { index in
            PostgresColumn(
                name: PQfname(result, index).map { String(cString: $0) } ?? "",
                type: PostgresType(rawValue: PQftype(result, index))
            )
        }
        self.list = list
        indexes = Dictionary(list.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    @usableFromInline
    func index(of name: String) throws(PostgresError) -> Int {
        guard let index = indexes[name] else {
            let names = list.map(\.name).joined(separator: ", ")
            throw PostgresError(.decoding, "the result has no column named \(name); it has: \(names)")
        }
        return index
    }
}

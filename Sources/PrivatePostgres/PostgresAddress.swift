import Postgres

/// The address of a database behind a Unix socket, as psql and libpq read it.
struct PostgresAddress: CustomStringConvertible {
    let user: String
    let database: String
    let socketDirectory: String
    let port: Int

    var description: String {
        "postgresql://\(user.percentEncoded)@/\(database.percentEncoded)"
            + "?host=\(socketDirectory.percentEncoded(keeping: "/"))&port=\(port)"
    }
}

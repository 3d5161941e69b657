import CLibpq

extension PostgresConnection {
    /// The verifier of a password for SCRAM-SHA-256 (RFC 5803), made here and with a salt of its own, so that neither the
    /// server nor its log sees the password.
    ///
    /// - Throws: `.encoding` if libpq cannot make one; `.closed`.
    public func scramVerifier(ofPassword password: String, user: String) async throws -> String {
        try await perform { libpq throws(PostgresError) in
            guard let verifier = PQencryptPasswordConn(libpq.connection, password, user, "scram-sha-256") else {
                throw PostgresError(.encoding, PostgresError.oneLine(PQerrorMessage(libpq.connection)))
            }
            defer { PQfreemem(verifier) }
            return String(cString: verifier)
        }
    }
}

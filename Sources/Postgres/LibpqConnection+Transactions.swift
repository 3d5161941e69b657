import CLibpq

extension LibpqConnection {
    /// Whether a transaction is open, be it one that can only be rolled back.
    var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR].contains(PQtransactionStatus(connection))
    }

    /// Rolls an open transaction back; a connection on which that fails is closed, which has the same effect.
    func rollBack() {
        guard isInTransaction else { return }
        do {
            try execute("ROLLBACK", isCancellable: false)
        } catch {
            close()
        }
    }

    /// Commits the transaction, or says why it cannot be committed.
    func commit(firstServerError: PostgresError?) throws(PostgresError) {
        guard isOpen else { throw PostgresError(.connectionLost, "the connection was lost during the transaction") }
        switch PQtransactionStatus(connection) {
        case PQTRANS_INTRANS: break
        case PQTRANS_INERROR:
            throw firstServerError ?? PostgresError(.misuse, "the transaction was aborted by an earlier error")
        default:
            throw PostgresError(.misuse, "the transaction's body ended the transaction by itself")
        }
        let result: PostgresResultStorage?
        do {
            result = try execute("COMMIT", isCancellable: false)
        } catch {
            guard error.code == .connectionLost || error.code == .timeout else { throw error }
            var error = error
            error.message += "; it is not known whether the transaction was committed"
            throw error
        }
        guard result?.commandTag == "COMMIT" else {
            throw PostgresError(.server, "the server rolled the transaction back instead of committing it")
        }
    }
}

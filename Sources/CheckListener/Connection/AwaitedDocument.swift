import UpdatePolicy

/// A request of a connection that is answered once its document is made.
struct AwaitedDocument {
    /// Withdraws the question.
    let ticket: DocumentMaker.Ticket
    let question: DocumentQuestion
    let request: RequestLabel
    /// What the response says about the connection.
    let connection: ConnectionHeader
    /// When it was asked.
    let arrival: Timestamp
}

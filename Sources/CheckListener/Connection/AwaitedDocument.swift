// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A request of a connection that is answered once its document is made.
final class AwaitedDocument {
    let request: CheckRequest
    let question: DocumentQuestion
    /// What the response says about the connection.
    let connection: ResponseWriter.ConnectionHeader
    /// When it was asked.
    let start: Timestamp
    /// nil where the maker does not make it.
    var ticket: DocumentMaker.Ticket?

    init(
        _ request: CheckRequest,
        _ question: DocumentQuestion,
        _ connection: ResponseWriter.ConnectionHeader,
        start: Timestamp
    ) {
        self.request = request
        self.question = question
        self.connection = connection
        self.start = start
    }
}

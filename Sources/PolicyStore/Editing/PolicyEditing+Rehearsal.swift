// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension PolicyEditing {
    /// Makes an edit as ``edit(by:onto:_:)`` does, tells what it changes, and takes everything back.
    ///
    /// So what is shown is what the database would do, and what it would refuse is refused. Others who commit edits wait
    /// for the end of the rehearsal.
    ///
    /// - Parameter body: Changes the rows; may be called several times.
    /// - Returns: What would become of the edit; `.rehearsed` where it concerns nobody's messages.
    /// - Throws: What ``edit(by:onto:_:)`` throws.
    public func rehearse(_ body: @Sendable (PolicyEditor) throws -> Void) async throws -> EditOutcome {
        try await outcome(by: EditAuthor(osUser: nil, why: nil), commits: false, body)
    }
}

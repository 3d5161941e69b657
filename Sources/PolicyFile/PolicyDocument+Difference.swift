// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import PolicyStore

extension PolicyDocument {
    /// What has to be said in the file before a difference can be made.
    ///
    /// - Parameter difference: What turns the present policy into this one.
    /// - Returns: The faults; none if the difference can be tried.
    public func faults(of difference: PolicyDifference) -> [PolicyFileFault] {
        difference.edits.compactMap { edit in
            // Nobody can say which moment it was: a file that did not name it would be different at once.
            guard edit.table == .releases, let before = edit.before, let after = edit.after,
                before["staged"] == .boolean(true), after["staged"] == .boolean(false), after["live_at"] == .null
            else { return nil }
            return PolicyFileFault(
                position(table: .releases, place: edit.place, column: nil) ?? .start,
                "release \(after["version"].text ?? ""): it is staged no more, and has no live_at, so nobody is offered it",
                hint: "Write since when everybody can get it: live_at: 2026-03-01T12:00:00Z"
            )
        }
    }
}

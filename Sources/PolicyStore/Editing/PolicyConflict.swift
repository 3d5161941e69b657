/// Another edit changed the policy, so it is not in the state that this edit expects.
package enum PolicyConflict: Error, Sendable, CustomStringConvertible {
    /// The policy is at another revision than the expected one; with the change that made it, if it can be read.
    case otherRevision(Int64, expected: Int64, change: PolicyChange?)
    /// Another edit was committed since the one began, so the state that it is for is no longer there.
    case overtaken
    /// So it was after somebody was asked, at this revision.
    case changedSinceReview(Int64)
    /// Others edit faster than the edit can be reviewed.
    case tooManyEdits

    /// What happened.
    package var description: String {
        switch self {
        case .otherRevision(let revision, let expected, let change):
            "the policy is at revision \(revision), not at \(expected)" + (change.map(Self.origin) ?? "")
        case .overtaken:
            "the policy was changed by somebody else meanwhile; nothing was changed; repeat it"
        case .changedSinceReview(let revision):
            "the policy was changed by somebody else meanwhile: the review was at revision \(revision); nothing was "
                + "changed; review it again and repeat it"
        case .tooManyEdits:
            "the policy is changed by others faster than this edit can be judged; nothing was changed; repeat it later"
        }
    }

    /// A second line with the author of a change and what it changed.
    private static func origin(of change: PolicyChange) -> String {
        var text = "\nChange \(change.id) by \(change.osUser.map { "\(change.role) (\($0))" } ?? change.role)"
        if let tool = change.tool { text += " with \(tool)" }
        text += ", \(change.at)"
        if let why = change.why { text += " (\(why))" }
        let rows = change.rows.prefix(3).map { "\($0.table) \($0.key)" }.joined(separator: ", ")
        return text + ": \(rows)\(change.rows.count > 3 ? " and \(change.rows.count - 3) more" : "")"
    }
}

import PolicyStore
import UpdatePolicy

/// A change in one line: its id, when, who, with what, what it did, and why.
enum ChangeLine {
    /// The whole line.
    static func text(_ change: PolicyChange, on terminal: Terminal = .standardOutput) -> String {
        headline(change, on: terminal) + "  " + ChangeWords.local.summary(change)
            + (change.why.map { "  (\($0.visible()))" } ?? "")
    }

    /// The line without what it did and why.
    static func headline(_ change: PolicyChange, on terminal: Terminal = .standardOutput) -> String {
        var line =
            "\(terminal.styled("\(change.id)", .bold))  \(TimeText.local(change.at))  \(change.role.visible())"
        if let osUser = change.osUser { line += " (\(osUser.visible()))" }
        if let tool = change.tool { line += "  \(tool.visible())" }
        if let undoes = change.undoes { line += "  undoes \(undoes)" }
        return line
    }
}

extension ChangeWords {
    /// With times in the local time zone.
    static let local = ChangeWords { TimeText.local($0) }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Whether an edit may be made: at once, after a question, or not without `--yes`.
enum EditConsent: Equatable {
    /// Nobody has to agree, or somebody has.
    case given
    /// Somebody must be asked.
    case question(String)
    /// Nobody can be asked.
    case missing(String)

    /// Decides.
    ///
    /// - Parameters:
    ///   - reasons: Why somebody has to agree; empty where nobody has to.
    ///   - database: What people know the database by.
    ///   - yes: Whether `--yes` was given.
    ///   - canAsk: Whether there is a terminal.
    init(reasons: [String], database: String, yes: Bool, canAsk: Bool) {
        guard !reasons.isEmpty, !yes else {
            self = .given
            return
        }
        let reason = reasons.joined(separator: ", and ")
        if canAsk {
            self = .question("\(reason.prefix(1).uppercased())\(reason.dropFirst()).\nDo it on \(database.visible())?")
        } else {
            self = .missing(
                "\(reason); nothing was changed on \(database.visible()); repeat it with --yes if it is meant"
            )
        }
    }

    /// Asks if somebody must be asked.
    ///
    /// - Returns: Whether somebody was asked.
    /// - Throws: an error that says that nothing was changed, and why.
    @discardableResult
    func require() throws -> Bool {
        switch self {
        case .given:
            return false
        case .question(let question):
            guard Terminal.confirms(question) else { throw CommandError("nothing was changed, as you said") }
            return true
        case .missing(let error):
            throw CommandError(error)
        }
    }
}

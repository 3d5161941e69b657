import PolicyStore
import Postgres
import Synchronization
import UpdatePolicy

/// Prints the warnings of the database on standard error, each once, even if an edit is tried several times, and keeps
/// those that are asked about.
final class EditWarnings: Sendable {
    /// What is done about edits of a great part of the rows of an app.
    enum MassEdits {
        /// The command says that they are meant, or shows them without making them.
        case meant
        case asked
        case printed
    }

    /// The kind of warning of a lockout whose way out came together with what it locks out.
    private static let wayOutBeside = "rules_way_out_beside"

    private let massEdits: MassEdits
    private let printed = Mutex<[String]>([])
    private let asked = Mutex<[String]>([])

    init(massEdits: MassEdits = .meant) { self.massEdits = massEdits }

    /// What was printed, each warning on a line.
    var lines: [String] { printed.withLock(\.self) }

    /// Why the edit that was tried last needs approval; asked for once.
    func takeQuestions() -> [String] {
        asked.withLock { questions in
            defer { questions = [] }
            return questions
        }
    }

    /// Prints a notice if it is a warning that was not printed before.
    func print(_ notice: PostgresNotice) {
        guard notice.isWarning else { return }
        let isMassEdit = notice.constraint == "mass_edit" || notice.constraint == "mass_removal"
        if isMassEdit, massEdits == .meant { return }
        // Removals are asked about as such.
        if notice.constraint == Self.wayOutBeside || massEdits == .asked && notice.constraint == "mass_edit" {
            asked.withLock { if !$0.contains(notice.message) { $0.append(notice.message) } }
        }
        if isMassEdit, massEdits == .asked { return }
        let hint = CommandHint(place: .options).cure(PolicyFault(notice), hint: notice.hint)
        let line = "Warning: \(notice.message)\(hint.map { " (\($0))" } ?? "")".visible()
        let isNew = printed.withLock { lines in
            guard !lines.contains(line) else { return false }
            lines.append(line)
            return true
        }
        if isNew { printError(Terminal.standardError.paragraphs(line + "\n")) }
    }
}

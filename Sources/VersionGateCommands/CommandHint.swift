import PolicyStore
import UpdatePolicy

/// What to do about a refusal or a warning of the database, for commands and policy files.
struct CommandHint {
    /// Where the refused value was written.
    enum Place {
        /// In the options of a command.
        case options
        /// In a policy file, whose keys are the names of the columns.
        case policyFile
    }

    let place: Place

    /// The cure of a fault; nil where there is none.
    ///
    /// - Parameter hint: What the database says to those who use SQL.
    func cure(_ fault: PolicyFault?, hint: String?) -> String? {
        guard let fault, let command = fault.command else { return hint }
        var cure = command
        if place == .policyFile {
            guard let text = fault.file ?? (command.contains("`") ? command : hint) else { return nil }
            cure = text
        }
        let words = (fault.row ?? [:]).merging(fault.words ?? [:]) { $1 }
        let text = Self.withCommands(cure) { words[$0] ?? nil }
        guard let hint = fault.hint, !hint.isEmpty else { return text }
        return "\(hint)\(hint.hasSuffix(".") ? "" : ".") \(text)"
    }

    /// A text with each command in backticks as it is typed, on this database.
    ///
    /// - Parameter value: A value by the name that stands for it in braces; without one it is named in capitals.
    static func withCommands(_ text: String, value: (String) -> String?) -> String {
        func filled(_ text: Substring, _ write: (_ value: String?, _ name: Substring) -> String) -> String {
            String(text).replacing(#/\{([a-z_]+)\}/#) { write(value(String($0.output.1)), $0.output.1) }
        }
        return text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2)
                ? filled(part) { $0 ?? "{\($1)}" }
                : "\(PrintedCommand(filled(part) { $0?.shellWord ?? $1.uppercased() }))"
        }.joined()
    }
}

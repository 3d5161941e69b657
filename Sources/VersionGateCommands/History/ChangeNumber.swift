import PolicyStore
import UpdatePolicy

/// The number of a change on the command line.
enum ChangeNumber {
    /// Reads it.
    ///
    /// - Throws: `CommandError` that says where the changes of another name are listed.
    static func parse(_ argument: String) throws -> Int64 {
        guard let number = Int64(argument) else {
            throw CommandError(
                "write a whole number, or none for the newest; the changes of a rule or an app have theirs in: "
                    + "\(PrintedCommand("history \(argument.shellWord)"))"
            )
        }
        return number
    }
}

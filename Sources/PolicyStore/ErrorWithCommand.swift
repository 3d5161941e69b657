/// An error whose description says which command helps.
package protocol ErrorWithCommand: Error, CustomStringConvertible {
    /// The fault and what to do about it.
    ///
    /// - Parameter command: Makes a command that can be typed of its words.
    func description(command: (String) -> String) -> String
}

extension ErrorWithCommand {
    /// The fault and what to do about it, for whom no database was named.
    package var description: String { description { "versiongate \($0)" } }
}

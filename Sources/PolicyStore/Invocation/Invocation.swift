import Foundation
import UpdatePolicy

/// How a command was called: its arguments and its environment.
package struct Invocation: Sendable {
    /// The arguments without the name of the program.
    package let words: [String]
    /// The variables of the environment.
    package let environment: [String: String]
    /// The options that name the database, as words of a shell.
    ///
    /// They are kept from the start, before a password is wiped from the arguments.
    let database: [String]

    /// An invocation with these arguments.
    package init(words: [String], environment: [String: String]) {
        self.words = words
        self.environment = environment
        database = DatabaseWords(words, environment: environment).toType.map(\.shellWord)
    }

    /// The invocation of the running command; that of this process, unless a test calls a command by itself.
    @TaskLocal package static var current = Invocation(
        words: ProcessArguments.words,
        environment: ProcessInfo.processInfo.environment
    )
}

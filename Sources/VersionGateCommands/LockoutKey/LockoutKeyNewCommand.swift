import ArgumentParser
import PolicyServer

/// `versiongate lockout-key new`
struct LockoutKeyNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a key that signs lockouts, and print its public half.",
        discussion: """
            The file is for its owner alone, and is never written over: apps may have pinned the key in it. Pin two \
            public halves in the first version of the app, and keep the second file where no server is.

            Example:
              versiongate lockout-key new lockout-key.pem
            """
    )

    @Argument(help: ArgumentHelp("The file to make.", valueName: "file"), completion: .file())
    var file = "lockout-key.pem"

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let file = LockoutKeyFile(path: self.file)
        let half = try CommandError.explainingFiles { () throws(ConfigurationError) in try file.make() }
        LockoutKeyCommand.show(half, of: file, output.format)
    }
}

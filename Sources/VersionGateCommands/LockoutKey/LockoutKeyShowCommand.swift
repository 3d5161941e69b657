import ArgumentParser
import PolicyServer

/// `versiongate lockout-key show`
struct LockoutKeyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the public half of a key that signs lockouts.",
        discussion: """
            Example:
              versiongate lockout-key show lockout-key.pem
            """
    )

    @Argument(help: ArgumentHelp("The file of the private key.", valueName: "file"), completion: .file())
    var file = "lockout-key.pem"

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let file = LockoutKeyFile(path: self.file)
        let half = try CommandError.explainingFiles { () throws(ConfigurationError) in try file.publicHalf() }
        LockoutKeyCommand.show(half, of: file, output.format)
    }
}

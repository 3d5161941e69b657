import ArgumentParser
import PolicyServer
import Reports
import UpdatePolicy

/// `versiongate lockout-key`: the keys that sign lockouts.
struct LockoutKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "lockout-key", "Make and show keys that sign lockouts.",
        discussion: """
            A server with --lockout-key signs lockouts. Apps that pin the public half take any other lockout for a \
            plain message.
            """,
        examples: ["versiongate lockout-key new lockout-key.pem"],
        subcommands: [LockoutKeyNewCommand.self, LockoutKeyShowCommand.self]
    )
}

/// `versiongate lockout-key new`
struct LockoutKeyNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "new", "Make a key that signs lockouts, and print its public half.",
        discussion: """
            The file is for its owner alone, and is never written over: apps may have pinned the key in it. Pin two \
            public halves in the first version of the app, and keep the second file offline.
            """,
        examples: ["versiongate lockout-key new lockout-key.pem"]
    )

    @OptionGroup var key: LockoutKeyOptions

    func run() async throws { try key.show { file throws(ConfigurationError) in try file.make() } }
}

/// `versiongate lockout-key show`
struct LockoutKeyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "show", "Print the public half of a key that signs lockouts.",
        examples: ["versiongate lockout-key show lockout-key.pem"]
    )

    @OptionGroup var key: LockoutKeyOptions

    func run() async throws { try key.show { file throws(ConfigurationError) in try file.publicHalf() } }
}

/// The file of a key, and how its public half is shown.
struct LockoutKeyOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The file of the private key.", valueName: "file"), completion: .file())
    var file = "lockout-key.pem"

    @OptionGroup var output: OutputOptions

    func show(_ publicHalf: (LockoutKeyFile) throws(ConfigurationError) -> LockoutKeyFile.PublicHalf) throws {
        let half: LockoutKeyFile.PublicHalf
        do throws(ConfigurationError) {
            half = try publicHalf(LockoutKeyFile(path: file))
        } catch {
            throw CommandError("\(error)")
        }
        let fields: [Report.Field] = [
            .init("file", json: "file", .text(file)), .init("key id", json: "key_id", .text(half.id)),
            .init("public key", json: "public_key", .text(half.key)),
        ]
        output.print(Report(at: .now(), [.fields(fields)]))
    }
}

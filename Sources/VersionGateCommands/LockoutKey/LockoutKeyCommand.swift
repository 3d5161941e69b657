import ArgumentParser
import PolicyServer
import Reports
import UpdatePolicy

struct LockoutKeyCommand: AsyncParsableCommand {
    static let configuration = command(
        "lockout-key", "Make and show keys that sign lockouts.", "versiongate lockout-key new lockout-key.pem",
        discussion: """
            A server with --lockout-key signs lockouts. Apps that pin the public half take any other lockout for a \
            plain message.
            """,
        subcommands: [LockoutKeyNewCommand.self, LockoutKeyShowCommand.self]
    )
}

struct LockoutKeyNewCommand: AsyncParsableCommand {
    static let configuration = command(
        "new", "Make a key that signs lockouts, and print its public half.",
        "versiongate lockout-key new lockout-key.pem",
        discussion: """
            Only its owner may read the file, and it is never overwritten: apps may have pinned the key in it. Pin two \
            public halves in the first version of the app, and keep the second file offline.
            """
    )

    @OptionGroup var key: LockoutKeyOptions

    func run() async throws { try key.show(makingIt: true) }
}

struct LockoutKeyShowCommand: AsyncParsableCommand {
    static let configuration = command(
        "show", "Print the public half of a key that signs lockouts.", "versiongate lockout-key show lockout-key.pem"
    )

    @OptionGroup var key: LockoutKeyOptions

    func run() async throws { try key.show(makingIt: false) }
}

struct LockoutKeyOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The file of the private key.", valueName: "file"), completion: .file())
    var file = "lockout-key.pem"
    @OptionGroup var output: OutputOptions

    func show(makingIt: Bool) throws {
        let key = LockoutKeyFile(path: file)
        let half: LockoutKeyFile.PublicHalf
        do throws(ConfigurationError) {
            half = try makingIt ? key.make() : key.publicHalf()
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

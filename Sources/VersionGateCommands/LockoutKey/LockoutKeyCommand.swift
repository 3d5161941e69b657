import ArgumentParser
import PolicyServer
import UpdatePolicy

/// `versiongate lockout-key`: the keys that sign lockouts.
struct LockoutKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lockout-key",
        abstract: "Make and show keys that sign lockouts.",
        discussion: """
            A server with --lockout-key signs lockouts. Apps that pin the public half take any other lockout for a \
            plain message.

            Example:
              versiongate lockout-key new lockout-key.pem
            """,
        subcommands: [LockoutKeyNewCommand.self, LockoutKeyShowCommand.self]
    )

    /// Prints the public half of the key in a file.
    static func show(_ half: LockoutKeyFile.PublicHalf, of file: LockoutKeyFile, _ format: OutputFormat) {
        switch format {
        case .json:
            let object: JSONValue = ["file": file.path, "key_id": half.id, "public_key": half.key]
            print(object.lines)
        case .table:
            let fields = [
                RecordField(name: "file", value: file.path), RecordField(name: "key id", value: half.id),
                RecordField(name: "public key", value: half.key),
            ]
            print(RecordText(fields).text)
        }
    }
}

extension CommandError {
    /// Runs what reads or writes the file of a key.
    static func explainingFiles<Result>(_ body: () throws(ConfigurationError) -> Result) throws -> Result {
        do throws(ConfigurationError) {
            return try body()
        } catch {
            throw CommandError("\(error)")
        }
    }
}

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate release withdraw`
struct ReleaseWithdrawCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Say that users can no longer get a release.",
        discussion: """
            It shows which checks that affects, and asks on a terminal; in scripts it needs --yes. To undo it, use \
            release edit with --clear withdrawn-at.

            Examples:
              versiongate release withdraw com.example.doto 1.2
              versiongate release withdraw com.example.doto 1.2 \\
                --platform ios
            """
    )

    @OptionGroup var selector: ReleaseSelector

    @Option(
        parsing: .unconditional, help: ArgumentHelp("From when on; now unless given.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var at: TimeArgument?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        try await options.edit(on: database, asksAboutRemovals: true, values: time) { editor, time in
            try selector.forEach(editor) { id in try editor.withdraw(id, at: time) }
        }
    }

    private func time(_ clock: CommandClock) throws -> Timestamp {
        try at.map { try clock.moment($0, of: "--at") } ?? clock.now
    }
}

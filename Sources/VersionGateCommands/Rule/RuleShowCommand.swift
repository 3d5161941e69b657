import ArgumentParser
import PolicyStore
import Reports
import UpdatePolicy

/// `versiongate rule show`
struct RuleShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a rule with its texts, its planned steps and what its ranges mean.",
        discussion: """
            Example:
              versiongate rule show update-1.2
            """
    )

    @Argument(help: "The key of the rule.")
    var key: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            guard let (rule, status) = try reports.rule(key) else {
                throw try CommandError.noSuchRule(key, reports.session)
            }
            output.print(
                Report.rule(
                    rule, status,
                    fuse: rule.fuse == nil ? nil : try FuseStatus.all(reports.session)?.first { $0.rule == key },
                    brake: status.locksOut(rule)
                        ? ServerSession.brake(of: try ServerSession.all(reports.session)) : nil,
                    at: try CommandClock(reports.session).now
                )
            )
        }
    }
}

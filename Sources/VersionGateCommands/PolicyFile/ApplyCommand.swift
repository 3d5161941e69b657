import ArgumentParser
import PolicyDocument
import PolicyStore
import UpdatePolicy

/// `versiongate apply`
struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make the policy what a policy file says.",
        discussion: """
            The file is the whole policy: what is not in it is removed. Everything happens in one transaction or not \
            at all, and does exactly what plan shows. It is refused if somebody else changes the policy meanwhile, \
            or has changed it since the revision that --revision names.

            With --bundle the file is the part of one app: its releases and rules. Other apps, and rules for every \
            app, are left as they are, and a file that has any is refused.

            On a terminal it asks before it removes anything, and before it locks out more than 1 % of an app's \
            recent checks or an unknown number; in scripts both need --yes. To remove more than a tenth of an app's rules or \
            releases, and at least three, --yes needs --removals beside it. It names the changes that it takes back; those of \
            a brake's login, a fuse, a hold or a pause --yes takes back only with --over-brakes. The first line of an \
            exported file says which changes it knows.

            Examples:
              versiongate apply policy.yaml
              versiongate apply policy.yaml --revision 41 --yes \\
                --why "Ticket 1234"
            """
    )

    @Argument(help: "The policy file; - reads standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp("The revision that was planned for; refused at any other.", valueName: "number"),
        transform: WholeNumber.parse
    )
    var revision: Int64?

    @Option(help: ArgumentHelp("The app that the file is about.", valueName: "bundle"))
    var bundle: String?

    @Flag(help: "With --yes, also remove more than a tenth of an app's rules or releases.")
    var removals = false

    @Flag(help: "With --yes, also take back what a brake's login, a fuse, a hold or a pause did.")
    var overBrakes = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let policyFile = try PolicyFile(file, bundle: bundle)
        let plan = try await policyFile.plan(on: database, revision: revision)
        policyFile.warnOfOneApp(in: plan.present.policy, command: "apply")
        let doubt = policyFile.doubt
        if options.dryRun {
            if let doubt { CommandError(doubt).printAsWarning() }
        } else if let doubt, options.yes || !Terminal.canAsk {
            throw CommandError("\(doubt)\nNothing was changed.")
        } else if options.yes {
            if !removals { try policyFile.requireFewRemovals(plan) }
            if !overBrakes { try policyFile.requireNoBrakes(plan.takenBack) }
        }
        if let text = plan.takenBack.text { printError("\(text)\n") }
        try await policyFile.explaining {
            try await options.edit(
                on: database, asksAboutRemovals: true, asksAboutMassEdits: true,
                doubts: { _ in [doubt].compactMap(\.self) }
            ) { editor in
                try editor.make(plan.difference, from: plan.present.version)
            }
        }
    }
}

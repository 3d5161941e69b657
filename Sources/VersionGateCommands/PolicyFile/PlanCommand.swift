import ArgumentParser
import PolicyDocument
import PolicyStore
import Postgres
import UpdatePolicy

/// `versiongate plan`
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what applying a policy file would change.",
        discussion: """
            The file is the whole policy: what is not in it would be removed. The edits are made, checked by the \
            database and rolled back, so plan shows what apply would do, and refuses what apply would refuse. A user \
            with the role planner can do this and cannot apply.

            With --bundle the file is the part of one app: its releases and rules. Other apps, and rules for every \
            app, are left as they are.

            If the differences affect what clients get, plan shows their impact on recent checks, and whether apply \
            needs approval for lockouts. With --format json this is in impact (null if clients get the same): \
            checks, new_lockouts (how many of them would be newly locked out, at most) and approval (why apply needs \
            approval, or null). With --format markdown it is a comment for a pull request.

            It names the changes that the file would take back (takes_back in JSON), because it gives columns the values from \
            before them: those since the revision that the file was exported from, as its first line says.

            Exit codes: 0 if there are no differences, 2 if there are, 1 if the file cannot be applied.

            Examples:
              versiongate plan policy.yaml
              git show main:policy.yaml | versiongate plan -
              versiongate plan policy.yaml --format json
              versiongate plan doto.yaml --bundle com.example.doto \\
                --format markdown
            """
    )

    /// The exit code for "there are differences".
    static let differencesExist = ExitCode(2)

    @Argument(help: "The policy file; - reads standard input.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The app that the file is about.", valueName: "bundle"))
    var bundle: String?

    @Option(help: "How to print: table for people, json for programs, markdown for a pull request.")
    var format: Format = .table

    @OptionGroup var database: DatabaseOptions

    /// The form in which a plan is printed.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json, markdown
    }

    func run() async throws {
        let policyFile = try PolicyFile(file, bundle: bundle)
        if let doubt = policyFile.doubt { CommandError(doubt).printAsWarning() }
        let plan = try await policyFile.plan(on: database)
        let warnings = EditWarnings()
        let (edit, name) = try await database.withConnection(as: .admin, onNotice: warnings.print) {
            connection,
            logger,
            name in
            try await Progress.showing("Trying the edits") {
                let editing = PolicyEditing(connection, logger: logger)
                try await editing.prepare(commits: false) { _ in }
                return try await policyFile.explaining {
                    (try await editing.dryRun { try $0.make(plan.difference, from: plan.present.version) }, name)
                }
            }
        }
        let revision = plan.present.version.revision
        let scope = policyFile.scope + (plan.takenBack.hasBrakes ? " --over-brakes" : "")
        let report = PlanReport(
            revision: revision, change: edit?.change, impact: try edit?.reach.map { try EditImpact(of: $0) },
            unchanged: "No differences: the policy at revision \(revision) is as the file says.",
            ending: "To apply exactly this: \(command: "apply \(file.shellWord)\(scope) --revision \(revision)")",
            audiences: PlanReport.audiences(before: plan.present.policy.rules, after: policyFile.rules),
            warnings: warnings.lines, takenBack: plan.takenBack, terminal: .standardOutput
        )
        switch format {
        case .json: print(report.json.lines)
        case .table: print(report.text)
        case .markdown: print(report.markdown(database: name))
        }
        policyFile.warnOfOneApp(in: plan.present.policy, command: "plan")
        if edit != nil { throw Self.differencesExist }
    }
}

import ArgumentParser
import Foundation
import PolicyDocument
import PolicyStore
import Postgres
import UpdatePolicy

struct PlanCommand: AsyncParsableCommand {
    static let configuration = command(
        "plan", "Show what applying a policy file would change.",
        "versiongate plan policy.yaml", "git show main:policy.yaml | versiongate plan -",
        "versiongate plan policy.yaml --format json",
        "versiongate plan doto.yaml --bundle com.example.doto --format markdown",
        discussion: """
            The file is the whole policy: what is not in it would be removed. The edits are made, checked by the \
            database and rolled back, so plan shows what apply would do, and refuses what apply would refuse. A user \
            with the role planner can do this and cannot apply.

            With --bundle the file is the part of one app: its releases and rules. Other apps, and rules for every \
            app, are left as they are.

            If the differences affect what clients get, plan shows their impact on recent checks, and whether apply \
            needs approval for lockouts. With --format json this is in impact (null if clients get the same): checks, \
            new_lockouts (how many of them would be newly locked out, at most) and approval (why apply needs approval, \
            or null). With --format markdown it is a comment for a pull request.

            It names the changes that the file would take back (takes_back in JSON), because it gives columns the \
            values from before them: those since the revision that the file was exported from, as its first line says.

            Exit codes: 0 if there are no differences, 2 if there are, 1 if the file cannot be applied.
            """
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json, markdown
    }

    @Argument(help: "The policy file; - reads standard input.", completion: .file()) var file: String
    @Option("bundle", "The app that the file is about.") var bundle: String?
    @Option(help: "How to print: table for people, json for programs, markdown for a pull request.")
    var format: Format = .table
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let policyFile = try PolicyFile(file, bundle: bundle)
        if let cut = policyFile.cut { warn(cut) }
        let plan = try await policyFile.plan(on: database)
        let warnings = EditWarnings()
        let (edit, name) = try await database.withConnection(as: .admin, onNotice: warnings.print) {
            connection,
            logger,
            name in
            try await Progress.showing("Trying the edits") {
                let editing = PolicyTransaction(connection, logger: logger)
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
        if edit != nil { throw ExitCode(2) }
    }
}

struct ApplyCommand: AsyncParsableCommand {
    static let configuration = command(
        "apply", "Make the policy what a policy file says.",
        "versiongate apply policy.yaml", #"versiongate apply policy.yaml --revision 41 --yes --why "Ticket 1234""#,
        discussion: """
            The file is the whole policy: what is not in it is removed. Everything happens in one transaction or not \
            at all, and does exactly what plan shows. It is refused if somebody else changes the policy meanwhile, or \
            has changed it since the revision that --revision names.

            With --bundle the file is the part of one app: its releases and rules. Other apps, and rules for every \
            app, are left as they are, and a file that has any is refused.

            On a terminal it asks before it removes anything, and before it locks out more than 1 % of an app's recent \
            checks or an unknown number; in scripts both need --yes. To remove more than a tenth of an app's rules or \
            releases, and at least three, --yes needs --removals beside it. It names the changes that it takes back; \
            those of a brake's login, a fuse, a hold or a pause --yes takes back only with --over-brakes. The first \
            line of an exported file says which changes it knows.
            """
    )

    @Argument(help: "The policy file; - reads standard input.", completion: .file()) var file: String
    @Option(revision: "The revision that was planned for; refused at any other.") var revision: Int64?
    @Option("bundle", "The app that the file is about.") var bundle: String?
    @Flag(help: "With --yes, also remove more than a tenth of an app's rules or releases.") var removals = false
    @Flag(help: "With --yes, also take back what a brake's login, a fuse, a hold or a pause did.")
    var overBrakes = false
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let policyFile = try PolicyFile(file, bundle: bundle)
        let plan = try await policyFile.plan(on: database, revision: revision)
        policyFile.warnOfOneApp(in: plan.present.policy, command: "apply")
        let cut = policyFile.cut
        if options.dryRun {
            if let cut { warn(cut) }
        } else if let cut, options.yes || !Terminal.canAsk {
            throw CommandError("\(cut)\nNothing was changed.")
        } else if options.yes {
            if !removals { try policyFile.requireFewRemovals(plan) }
            if !overBrakes { try policyFile.requireNoBrakes(plan.takenBack) }
        }
        if let text = plan.takenBack.text { printError("\(text)\n") }
        try await policyFile.explaining {
            try await options.edit(
                on: database, asksAboutRemovals: true, asksAboutMassEdits: true,
                confirmations: { _ in [cut].compactMap(\.self) }, values: { _ in }
            ) { editor, _ in
                try editor.make(plan.difference, from: plan.present.version)
            }
        }
    }
}

struct ExportCommand: AsyncParsableCommand {
    static let configuration = command(
        "export", "Write the policy as a file: apps, store links, releases, rules, texts and steps.",
        "versiongate export --output policy.yaml", "versiongate export | diff policy.yaml -",
        "versiongate export --bundle com.example.doto -o doto.yaml",
        "versiongate export --revision 41 --output before.yaml", #"versiongate export --as-of "yesterday 15:00""#,
        discussion: """
            The file is YAML, made to be read, edited and kept under version control. The same policy always gives the \
            same file, except for the revision in its first line. Default values are left out. With --bundle it is the \
            part of one app, for apply --bundle.
            """
    )

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write, in place of standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?
    @Option("bundle", "Only this app, with its releases and rules.") var bundle: String?
    @Option(revision: "The policy as it stood at this revision.") var revision: Int64?
    @Option(time: "The policy as it stood at this time.") var asOf: TimeArgument?
    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        if let output, InputFile.isFolder(output) {
            throw ValidationError("\(output) is a folder; name the file: --output \("\(output)/policy.yaml".shellWord)")
        }
        if output?.isEmpty == true {
            throw ValidationError("--output is empty; name the file, or leave the option out.")
        }
        if revision != nil, asOf != nil {
            throw ValidationError("--revision and --as-of both say which policy; leave one of the two out.")
        }
        try WholeNumber.requireRevision(revision)
    }

    func run() async throws {
        let moment: PolicyMoment? = revision.map { .revision($0) } ?? asOf.map { .time($0) }
        let exported = try await database.editedPolicy(at: moment, of: "--as-of")
        let policy = bundle.map(exported.policy.part) ?? exported.policy
        if let bundle, policy.apps.isEmpty {
            throw CommandError.noSuchApp(bundle, among: exported.policy.apps.map(\.bundle))
        }
        let text = PolicyDocument.text(
            of: policy, revision: exported.version.revision, token: exported.version.token,
            bundle: bundle.map { _ in policy.apps[0].bundle }
        )
        guard let output, output != "-" else {
            print(text, terminator: "")
            return
        }
        do {
            let type = try? FileManager.default.attributesOfItem(atPath: output)[.type] as? FileAttributeType
            // A device is written to, and not replaced by a file.
            let isReplaced = type == nil || type == .typeRegular
            try Data(text.utf8).write(to: URL(fileURLWithPath: output), options: isReplaced ? .atomic : [])
        } catch {
            throw CommandError(
                "\(output) cannot be written: \(InputFile.reason(error)); check that the folder exists, that you may write to it, and that there is space"
            )
        }
        print("Wrote the policy at revision \(exported.version.revision) to \(output).")
    }
}

/// A policy with its notes at one revision, and the change that brought it there.
struct EditedPolicy: Sendable {
    let version: PolicyVersion
    let change: PolicyChange?
    let policy: Policy

    /// - Parameter revision: The policy as it stood at this revision; nil: today's.
    init(_ session: PostgresSession, revision: Int64? = nil) throws {
        let (policy, history) = (try PolicyReader.editedPolicy(session, revision: revision), try PolicyHistory(session))
        let token = try revision.map { try history.version(of: $0).token } ?? policy.token
        (version, self.policy) = (PolicyVersion(revision: policy.revision, token: token), policy)
        change = try history.change(policy.revision)
    }
}

/// A state of the policy in the past: a revision, or a time.
enum PolicyMoment: Sendable {
    case revision(Int64)
    case time(TimeArgument)

    static func parse(_ argument: String) throws -> PolicyMoment {
        if let revision = Int64(argument), revision >= 0, !argument.hasPrefix("+") { return .revision(revision) }
        return .time(try TimeArgument.parse(argument))
    }
}

extension DatabaseOptions {
    func editedPolicy(at moment: PolicyMoment? = nil, of option: String = "--to") async throws -> EditedPolicy {
        try await read { reports in
            let session = reports.session
            let revision: Int64? =
                switch moment {
                case nil: nil
                case .revision(let revision): revision
                case .time(let time):
                    try PolicyHistory(session).revision(at: CommandClock(session).moment(time, of: option))
                }
            return try EditedPolicy(session, revision: revision)
        }
    }
}

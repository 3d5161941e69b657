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

            If the differences affect what clients get, plan shows their impact on recent checks, and whether apply \
            needs approval for lockouts. With --format json this is in impact (null if clients get the same): checks, \
            new_lockouts (how many of them would be newly locked out, at most) and approval (why apply needs approval, \
            or null). With --format markdown it is a comment for a pull request.

            It names the changes that the file would reverse (takes_back in JSON), because it gives columns the \
            values from before them: those since the revision that the file was exported from, as its first line says.

            Exit codes: 0 if there are no differences, 2 if there are, 1 if the file cannot be applied.
            """
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json, markdown
    }

    @Argument(help: "The policy file; - reads standard input.", completion: .file()) var file: String
    @Option("bundle", "The app that the file is about: its releases and rules. All else is left as it is.")
    var bundle: String?
    @Option(help: "The format: table for people, json for programs, markdown for a pull request.")
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
        let revision = plan.present.revision
        let scope = policyFile.scope + (plan.takenBack.hasBrakes ? " --over-brakes" : "")
        var report = try PlanReport(
            edit, rules: plan.present.rules + policyFile.rules, revision: revision,
            unchanged: "No differences: the policy at revision \(revision) matches the file.",
            ending: "To apply exactly this: \(command: "apply \(file.shellWord)\(scope) --revision \(revision)")"
        )
        (report.warnings, report.takenBack) = (warnings.lines, plan.takenBack)
        switch format {
        case .json: print(report.json.lines)
        case .table: print(report.text)
        case .markdown: print(report.markdown(database: name))
        }
        policyFile.warnOfOneApp(in: plan.present, command: "plan")
        if edit != nil { throw ExitCode(2) }
    }
}

struct ApplyCommand: AsyncParsableCommand {
    static let configuration = command(
        "apply", "Make the policy what a policy file says.",
        "versiongate apply policy.yaml", #"versiongate apply policy.yaml --revision 41 --yes --why "Ticket 1234""#,
        discussion: """
            The file is the whole policy: what is not in it is removed. Everything happens in one transaction or not \
            at all, and does exactly what plan shows. It is refused if somebody else changes the policy in the meantime.

            On a terminal it asks before it removes anything, and before it locks out more than 1 % of an app's recent \
            checks or an unknown number; in scripts both need --yes. It names the changes that it reverses. The first \
            line of an exported file says which changes it knows.
            """
    )

    @Argument(help: "The policy file; - reads standard input.", completion: .file()) var file: String
    @Option(revision: "The revision that was planned for; refused at any other.") var revision: Int64?
    @Option("bundle", "The app that the file is about: its releases and rules. All else is left as it is.")
    var bundle: String?
    @Flag(help: "With --yes, also remove more than a tenth of an app's rules or releases, and at least three.")
    var removals = false
    @Flag(help: "With --yes, also take back what a brake's login, a fuse, a hold or a pause did.")
    var overBrakes = false
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func run() async throws {
        let policyFile = try PolicyFile(file, bundle: bundle)
        let plan = try await policyFile.plan(on: database, revision: revision)
        policyFile.warnOfOneApp(in: plan.present, command: "apply")
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
        let whole = try await database.read { reports in
            let revision = try moment?.revision(of: "--as-of", reports.session)
            return try PolicyReader.editedPolicy(reports.session, revision: revision)
        }
        let policy = bundle.map(whole.part) ?? whole
        if let bundle, policy.apps.isEmpty {
            throw CommandError.noSuchApp(bundle, among: whole.apps.map(\.bundle))
        }
        let text = PolicyDocument.text(
            of: policy, revision: policy.revision, token: policy.token,
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
        print("Wrote the policy at revision \(policy.revision) to \(output).")
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

    func revision(of option: String, _ session: PostgresSession) throws -> Int64 {
        switch self {
        case .revision(let revision): revision
        case .time(let time): try PolicyHistory(session).revision(at: CommandClock(session).moment(time, of: option))
        }
    }
}

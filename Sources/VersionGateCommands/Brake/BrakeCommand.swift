import ArgumentParser
import Foundation
import PolicyServer
import UpdatePolicy

/// `versiongate brake`: sending lockouts as plain messages, server by server and without the database.
struct BrakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "brake", "Send every lockout as a plain message, on the servers of this machine.",
        discussion: """
            The brake is a file in the state folder of a server: run this on its machine, as a user who may write \
            there. It needs no database, holds over restarts, and is in force within a second.
            """,
        examples: [#"versiongate brake on --why "incident 42""#],
        subcommands: [BrakeOnCommand.self, BrakeOffCommand.self]
    )
}

/// `versiongate brake on`
struct BrakeOnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "on", "Send every lockout as a plain message from now on.",
        discussion: """
            Gateways let every client pass, and feeds demand no version. What was counted before stays. A client that \
            cannot reach a server keeps its lockout, for at most 7 days.
            """,
        examples: [
            #"versiongate brake on --why "incident 42""#,
            "sudo versiongate brake on --state-dir /var/lib/versiongate",
        ]
    )

    @OptionGroup var place: BrakeOptions

    func run() async throws {
        try place.change("on") { file, why in
            let saysWhy = try file.putOn(why: why)
            return "The brake is on: servers that watch \(file.path) send lockouts as plain messages within a second."
                + (saysWhy ? "" : " The disk is full, so nothing says why.") + " To take it off: \(file.release)"
        }
    }
}

/// `versiongate brake off`
struct BrakeOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "off", "Send lockouts as such again.",
        discussion: "They are those that the policy has by now, which were approved when they were enabled.",
        examples: [#"versiongate brake off --why "the rule is disabled""#]
    )

    @OptionGroup var place: BrakeOptions

    func run() async throws {
        try place.change("off") { file, _ in
            try file.takeOff()
                ? "The brake is off: servers that watch \(file.path) send lockouts again within a second."
                : "The brake was off already: there is no \(file.path)."
        }
    }
}

/// Where the brake is that a command changes, and why.
struct BrakeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The state folder of the server. (environment: VERSIONGATE_STATE_DIR)", valueName: "path")
    )
    var stateDir: String?

    @Option(
        help: ArgumentHelp(
            "The file that the server watches, where it is not brake in its state folder. "
                + "(environment: VERSIONGATE_BRAKE_FILE)",
            valueName: "file"
        ),
        completion: .file()
    )
    var brakeFile: String?

    @Option(help: ArgumentHelp("Why this is done; kept beside the brake.", valueName: "text")) var why: String?
    @Flag(help: "Accepted, as by every command that changes something; nothing is asked here.") var yes = false

    func validate() throws {
        if brakeFile == "" { throw ValidationError("--brake-file is empty; give the path of a file.") }
    }

    private var file: BrakeFile {
        get throws {
            let environment = CommandContext.current.environment
            let variable = environment["VERSIONGATE_BRAKE_FILE"].flatMap { stateDir == nil && !$0.isEmpty ? $0 : nil }
            if let path = brakeFile ?? variable {
                return BrakeFile(path: URL(fileURLWithPath: path).standardizedFileURL.path)
            }
            return BrakeFile(stateDirectory: try StateDirectory(option: stateDir, environment: environment).path)
        }
    }

    /// Changes the brake, prints what was done, and records it.
    ///
    /// - Throws: `CommandError` that names the folder and what to do where the brake cannot be changed.
    func change(_ verb: String, _ body: (_ file: BrakeFile, _ why: String) throws -> String) throws {
        let file = try self.file
        let reason = (why ?? "").visible()
        let done: String
        do {
            done = try body(file, reason)
        } catch let failure as BrakeFile.Failure {
            throw CommandError(fault(failure, verb, file))
        }
        print(Terminal.standardOutput.paragraphs(done.visible()))
        warnIfNobodyWatches(file)
        let author = EditOptions.osUser(CommandContext.current.environment)
        file.record("\(Timestamp.now()) \(verb) by \(author)\(reason.isEmpty ? "" : ": \(reason)")")
    }

    private func fault(_ failure: BrakeFile.Failure, _ verb: String, _ file: BrakeFile) -> String {
        let fault =
            switch failure {
            case .noFolder:
                "there is no folder \(file.folder), so no server keeps its state there; name the state folder of the server "
                    + "with --state-dir (that of the packages is /var/lib/versiongate), or the file that it watches with "
                    + "--brake-file"
            case .forbidden:
                "\(NSUserName()) may not write to the folder \(file.folder); run this as the user of the server, or as root "
                    + "with `sudo versiongate brake \(verb) --brake-file \(file.path.shellWord)`"
            case .readOnly:
                "the folder \(file.folder) is read only on this machine; make or remove \(file.path) where it is mounted "
                    + "from"
            case .other(let reason):
                "\(file.path) cannot be changed: \(reason.lowercased()); make or remove it by hand"
            }
        return "the brake is as it was: \(fault)"
    }

    /// Each user has a state folder of their own, and that of the server may be another.
    private func warnIfNobodyWatches(_ file: BrakeFile) {
        guard brakeFile == nil, file == BrakeFile(stateDirectory: file.folder),
            !FileManager.default.fileExists(atPath: file.folder + "/last-good-policy")
        else { return }
        CommandError(
            "no server has kept a policy in \(file.folder) yet; if the server has another state folder, name that with "
                + "--state-dir (that of the packages is /var/lib/versiongate)"
        ).printAsWarning()
    }
}

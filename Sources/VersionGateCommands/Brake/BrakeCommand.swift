import ArgumentParser
import Foundation
import PolicyServer
import UpdatePolicy

struct BrakeCommand: AsyncParsableCommand {
    static let configuration = command(
        "brake", "Send every lockout as a plain message, on the servers of this machine.",
        #"versiongate brake on --why "incident 42""#,
        discussion: """
            The brake is a file in the state folder of a server: run this on its machine, as a user who may write \
            there. It needs no database, survives restarts, and takes effect within a second.
            """,
        subcommands: [BrakeOnCommand.self, BrakeOffCommand.self]
    )
}

struct BrakeOnCommand: AsyncParsableCommand {
    static let configuration = command(
        "on", "Send every lockout as a plain message from now on.",
        #"versiongate brake on --why "incident 42""#, "sudo versiongate brake on --state-dir /var/lib/versiongate",
        discussion: """
            Gateways let every client pass, and feeds demand no version. What was counted before stays. A client that \
            cannot reach a server keeps its lockout, for at most 7 days.
            """
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

struct BrakeOffCommand: AsyncParsableCommand {
    static let configuration = command(
        "off", "Send lockouts as such again.", #"versiongate brake off --why "the rule is disabled""#,
        discussion: "They are the lockouts that the policy has now, which were approved when they were enabled."
    )

    @OptionGroup var place: BrakeOptions

    func run() async throws {
        try place.change("off") { file, _ in
            try file.takeOff()
                ? "The brake is off: servers that watch \(file.path) send lockouts again within a second."
                : "The brake was already off: there is no \(file.path)."
        }
    }
}

struct BrakeOptions: ParsableArguments {
    @Option("path", "The state folder of the server. (environment: VERSIONGATE_STATE_DIR)") var stateDir: String?
    @Option(
        file: "The file that the server watches, if it is not brake in its state folder. "
            + "(environment: VERSIONGATE_BRAKE_FILE)"
    )
    var brakeFile: String?
    @Option("text", "Why this is done; kept beside the brake.") var why: String?
    @Flag(help: "Accepted, as by every command that changes something; this one asks nothing.") var yes = false

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
            return BrakeFile(stateDirectory: try DatabaseOptions.stateDirectory(stateDir))
        }
    }

    func change(_ verb: String, _ body: (_ file: BrakeFile, _ why: String) throws -> String) throws {
        let file = try self.file
        let reason = (why ?? "").visible()
        do {
            print(Terminal.standardOutput.paragraphs(try body(file, reason).visible()))
        } catch let failure as BrakeFile.Failure {
            throw CommandError(fault(failure, verb, file))
        }
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
        warn(
            "no server has kept a policy in \(file.folder) yet; if the server has another state folder, name that with "
                + "--state-dir (that of the packages is /var/lib/versiongate)"
        )
    }
}

import ArgumentParser
import Foundation
import PolicyDocument
import PolicyStore
import UpdatePolicy

/// `versiongate export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the policy as a file: apps, store links, releases, rules, texts and steps.",
        discussion: """
            The file is YAML, made to be read, edited and kept under version control. The same policy always gives \
            the same file, except for the revision in its first line. Default values are left out. With --bundle it \
            is the part of one app, for apply --bundle.

            Examples:
              versiongate export --output policy.yaml
              versiongate export | diff policy.yaml -
              versiongate export --bundle com.example.doto -o doto.yaml
              versiongate export --revision 41 --output before.yaml
              versiongate export --as-of "yesterday 15:00"
            """
    )

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write, in place of standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Option(
        help: ArgumentHelp("Only this app, with its releases and rules.", valueName: "bundle")
    )
    var bundle: String?

    @Option(
        help: ArgumentHelp("The policy as it stood at this revision.", valueName: "number"),
        transform: WholeNumber.parse
    )
    var revision: Int64?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("The policy as it stood at this time.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var asOf: TimeArgument?

    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        var isFolder: ObjCBool = false
        if let output, FileManager.default.fileExists(atPath: output, isDirectory: &isFolder), isFolder.boolValue {
            throw ValidationError("\(output) is a folder; name the file: --output \("\(output)/policy.yaml".shellWord)")
        }
        if output?.isEmpty == true {
            throw ValidationError("--output is empty; name the file, or leave the option out.")
        }
        if revision != nil, asOf != nil {
            throw ValidationError("--revision and --as-of both say which policy; leave one of the two out.")
        }
        if let revision, revision < 0 {
            throw ValidationError("There is no revision \(revision); revisions are counted from 0 on.")
        }
    }

    func run() async throws {
        let moment: PolicyMoment? = revision.map { .revision($0) } ?? asOf.map { .time($0) }
        let exported = try await database.editedPolicy(at: moment, of: "--as-of")
        let policy = try bundle.map { try exported.policy.part(ofApp: $0) } ?? exported.policy
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
                "\(output) cannot be written: \(CommandError.reason(ofFileError: error)); check the folder and its rights, and that there is space"
            )
        }
        print("Wrote the policy at revision \(exported.version.revision) to \(output).")
    }
}

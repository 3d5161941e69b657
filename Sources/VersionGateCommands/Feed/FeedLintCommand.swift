import ArgumentParser
import FeedTemplates
import PolicyStore
import UpdatePolicy

/// `versiongate feed lint`
struct FeedLintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Find templates that cannot be served.",
        discussion: """
            Templates that were written with SQL are not read before they are asked for. This reads them all; the exit code \
            is 1 if one has a fault.

            Examples:
              versiongate feed lint
              versiongate feed lint com.example.doto --format json
            """
    )

    @Argument(help: "The bundle of the app; every app unless given.", completion: .bundles)
    var bundle: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let apps = try await database.read { reports -> [App] in
            if let bundle { return [try reports.appWithTemplates(bundle)] }
            return try PolicyReader.policy(reports.session, bundles: nil).apps
        }
        let faults = apps.flatMap { app in
            app.feedTemplates.compactMap { template -> (bundle: String, name: String, fault: FeedTemplateFault)? in
                do throws(FeedTemplateFault) {
                    _ = try ParsedTemplate(template)
                    return nil
                } catch {
                    return (app.bundle, template.name, error)
                }
            }
        }
        switch output.format {
        case .json:
            let list = faults.map { bundle, name, fault -> JSONValue in
                [
                    "bundle": bundle, "name": name, "line": fault.line, "column": fault.column,
                    "message": fault.message, "hint": fault.hint,
                ]
            }
            print(JSONValue.array(list).lines)
        case .table:
            let count = apps.map(\.feedTemplates.count).reduce(0, +)
            let lines = faults.map {
                $0.fault.description(file: "\($0.bundle) \($0.name)").visible(keepsNewlines: true)
            }
            print(
                lines.isEmpty
                    ? "No faults in \(count) template\(count == 1 ? "" : "s")." : lines.joined(separator: "\n")
            )
        }
        if !faults.isEmpty { throw ExitCode.failure }
    }
}

import Foundation
import PolicyServer
import TestSystem
import Testing

@Suite("Setting documents")
struct SettingTests {
    @Test("The settings are options of serve where they say so, with their help and default")
    func areOptions() async throws {
        let serve = try #require(try await CommandTree.read().leaves.first { $0.path == ["serve"] })
        let arguments = serve.command.arguments ?? []
        for setting in Setting.all {
            let argument = arguments.first { "--\($0.preferredName?.name ?? "")" == setting.option }
            #expect((argument == nil) == (setting.option == nil), "\(setting.name)")
            guard let argument else { continue }
            #expect(argument.valueName == setting.valueName)
            #expect(argument.abstract?.hasPrefix("\(setting.help) (environment: \(setting.variable)") == true)
        }
    }

    @Test("The sample of an environment file has the settings as the server has them")
    func areDocumented() throws {
        let file = "deploy/versiongate.env"
        let samples = "\n\n" + Setting.all.map(\.sample).joined(separator: "\n")
        let text = try String(contentsOf: RepositoryFile.url(file), encoding: .utf8)
        #expect(text.hasSuffix(samples), "\(file) has to end with:\(samples)")
    }

    @Test("The settings have no default in the files for other programs but the port that the health check asks")
    func haveOneDefault() throws {
        let port = try #require(Setting.all.first { $0.name == "managementPort" })
        let check = try String(contentsOf: RepositoryFile.url("deploy/healthcheck"), encoding: .utf8)
        #expect(check.contains("${\(port.variable):-\(port.defaultText ?? "")}"))
    }
}

extension Setting {
    /// The setting as an environment file shows it, commented out.
    fileprivate var sample: String {
        let meaning = [help, note].filter { !$0.isEmpty }.joined(separator: " ")
            .replacing(#/\[([^\]]*)\]\([^)]*\)/#) { link in link.output.1 }
        let facts = [
            defaultText.map { "Default: \($0)." }, range.map { "Range: \($0)." }, option.map { "Option: \($0)." },
        ]
        return """
            # \(meaning)
            # \(facts.compactMap { $0 }.joined(separator: " "))
            #\(variable)=

            """
    }
}

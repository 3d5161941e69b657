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

    @Test(
        "The settings are in the tables of the documentation as the server has them",
        arguments: [("serve", Setting.ofServer), ("its limits", Setting.ofClients)]
    )
    func areDocumented(of what: String, settings: [Setting]) throws {
        let page = "Documentation/Install.md"
        let table = (["| setting | default | range | meaning |", "| --- | --- | --- | --- |"] + settings.map(\.row))
            .joined(separator: "\n")
        let hasTable = try String(contentsOf: RepositoryFile.url(page), encoding: .utf8).contains("\n\n\(table)\n\n")
        #expect(hasTable, "\(page) needs this table, for \(what):\n\(table)")
    }

    @Test("The settings have no default in the files for other programs but the port that the health check asks")
    func haveOneDefault() throws {
        let port = try #require(Setting.all.first { $0.name == "managementPort" })
        let check = try String(contentsOf: RepositoryFile.url("deploy/healthcheck"), encoding: .utf8)
        #expect(check.contains("${\(port.variable):-\(port.defaultText ?? "")}"))
    }
}

extension Setting {
    /// The setting as a row of a table in Markdown.
    fileprivate var row: String {
        let names = ["`\(variable)`"] + (option.map { ["`\($0)`"] } ?? [])
        let meaning = [help, note].filter { !$0.isEmpty }.joined(separator: " ")
        return "| \(names.joined(separator: ", ")) | \(defaultText ?? "") | \(range ?? "") | \(meaning) |"
    }
}

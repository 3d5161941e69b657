import Foundation
import NIOHTTP1
import TestSystem
import Testing
import Yams

@testable import VersionGateCommands

@Suite("OpenAPI documents")
struct OpenAPITests {
    private static let names = ["openapi.yaml", "openapi-server.yaml"]

    @Test(
        "The OpenAPI documents are served by the management listener, byte by byte as the files have them",
        arguments: names
    )
    func isServed(name: String) async throws {
        let bytes = try Data(contentsOf: RepositoryFile.url("Documentation/\(name)"))
        let nowhere = BuiltBinary.withoutDatabase()
        try await ServingBinary.run(nowhere) { server in
            for method in [HTTPMethod.GET, .HEAD] {
                let response = try await HTTPAnswer(server.managementURL + "/\(name)", method: method)
                #expect(response.status == 200)
                #expect(response.headers["Content-Type"] == ["application/yaml"])
                #expect(response.headers["Cache-Control"] == ["no-store"])
                #expect(response.headers["Content-Length"] == ["\(bytes.count)"])
                #expect(Data(response.body.utf8) == (method == .GET ? bytes : Data()))
            }
        }
    }

    @Test("The OpenAPI documents have the version of the program", arguments: names)
    func hasVersion(name: String) throws {
        let text = try String(contentsOf: RepositoryFile.url("Documentation/\(name)"), encoding: .utf8)
        let document = try #require(try Yams.load(yaml: text) as? [String: Any])
        let info = try #require(document["info"] as? [String: Any])
        #expect(info["version"] as? String == VersionGate.versionText)
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import NIOHTTP1
import TestSystem
import Testing
import Yams

@testable import VersionGateCommands

@Suite("OpenAPI document")
struct OpenAPITests {
    private static let file = RepositoryFile.url("Documentation/openapi.yaml")

    private static func document() throws -> [String: Any] {
        try #require(try Yams.load(yaml: String(contentsOf: file, encoding: .utf8)) as? [String: Any])
    }

    @Test("The OpenAPI document is served by the management listener, byte by byte as the file has it")
    func isServed() async throws {
        let bytes = try Data(contentsOf: Self.file)
        let nowhere = BuiltBinary(environment: ["DATABASE_URL": "postgresql://127.0.0.1:1/nothing?connect_timeout=2"])
        try await ServingBinary.run(nowhere) { server in
            for method in [HTTPMethod.GET, .HEAD] {
                let response = try await HTTPAnswer(server.managementURL + "/openapi.yaml", method: method)
                #expect(response.status == 200)
                #expect(response.headers["Content-Type"] == ["application/yaml"])
                #expect(response.headers["Cache-Control"] == ["no-store"])
                #expect(response.headers["Content-Length"] == ["\(bytes.count)"])
                #expect(Data(response.body.utf8) == (method == .GET ? bytes : Data()))
            }
        }
    }

    @Test("The OpenAPI document has the version of the program")
    func hasVersion() throws {
        let info = try #require(try Self.document()["info"] as? [String: Any])
        #expect(info["version"] as? String == VersionGate.versionText)
    }

    @Test("The OpenAPI document has an example of each kind of problem, and of no other")
    func hasEachProblem() throws {
        let components = try #require(try Self.document()["components"] as? [String: Any])
        let examples = try #require(components["examples"] as? [String: [String: Any]])
        let described = examples.values.compactMap { $0["value"] as? [String: Any] }
            .filter { $0["status"] != nil }
            .map { "\($0["status"] as? Int ?? 0) \($0["detail"] as? String ?? "")" }
        let shown = try HTTPPageTests.problems().map { "\($0.status) \($0.detail)" }
        #expect(described.count == shown.count)
        #expect(Set(described) == Set(shown))
    }
}

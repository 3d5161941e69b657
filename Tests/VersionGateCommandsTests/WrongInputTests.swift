// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestDatabase
import TestPolicies
import Testing

/// What people write by mistake: each is refused or warned about, with the fault and what to write.
@Suite("Wrong input", .migratedDatabase)
struct WrongInputTests {
    /// The inputs, and the policy that they meet.
    struct Inputs: Decodable {
        let setup: String
        let cases: [Input]
    }

    /// An input, as arguments or as a statement, and its answer.
    struct Input: Decodable, Sendable, CustomTestStringConvertible {
        let id: String
        var arguments: [String]?
        var sql: String?
        var environment: [String: String]?
        /// The exit code; of SQL 0 for a statement that is carried out.
        let status: Int
        /// What is said of the fault.
        let fault: [String]
        /// What is said of what to do.
        let cure: [String]

        var testDescription: String { "\(id): \(arguments?.joined(separator: " ") ?? sql ?? "")" }

        var needsServer: Bool { arguments?.contains { $0.contains("{public}") || $0.contains("{management}") } == true }
    }

    private static let inputs = Result { try Vectors.decode("wrong-inputs.json", as: Inputs.self) }
    private static let setup = (try? inputs.get())?.setup ?? ""
    private static let cases = ((try? inputs.get())?.cases ?? []).filter { !$0.needsServer }
    static let refused = cases.filter { $0.status != 0 }
    static let warnedAbout = cases.filter { $0.status == 0 }

    /// What commands never say: words of SQL, and of libraries.
    private static let foreignWords = [
        "INSERT", "UPDATE ", "DELETE", "NULL", "duplicate key", "invalid input syntax", "CONTEXT", "Error Domain",
        "errno",
        "/.build/", "HTTPClientError", "SocketAddressError",
    ]

    @Test("A wrong input is refused with its fault and what to do", .sharedDatabase(setup), arguments: refused)
    func isRefused(_ input: Input) async throws {
        let (status, errors) = try await answer(input, arguments: input.arguments)
        expect(status, errors, of: input)
        #expect(try await TestDatabase.current.revision() == 1, "\(input.testDescription) changed something")
    }

    @Test("A wrong input that may be meant is carried out with a warning, and what to do", arguments: warnedAbout)
    func isWarnedAbout(_ input: Input) async throws {
        try await TestDatabase.current.edit(Self.setup)
        let (status, errors) = try await answer(input, arguments: input.arguments)
        expect(status, errors, of: input)
    }

    @Test("A wrong input to a check of a server is answered with its fault and what to do")
    func isExplainedByServer() async throws {
        let inputs = try Self.inputs.get().cases
        #expect(inputs.count >= 100)
        let server = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")])
        try await ServingBinary.run(server) { serving in
            for input in inputs.filter(\.needsServer) {
                let arguments = input.arguments?.map { argument in
                    argument.replacing("{public}", with: serving.publicURL.drop { $0 != "/" }.dropFirst(2))
                        .replacing("{management}", with: serving.managementURL.drop { $0 != "/" }.dropFirst(2))
                }
                let (status, errors) = try await answer(input, arguments: arguments)
                expect(status, errors, of: input)
            }
        }
    }

    private func answer(_ input: Input, arguments: [String]?) async throws -> (status: Int, errors: String) {
        guard let arguments else {
            let result = try await TestDatabase.current.psql(input.sql ?? "", user: "versiongate_admin")
            return (result.isSuccess ? 0 : 1, result.errors)
        }
        var environment = BuiltBinary(.current).variables
        // A zone with summer time that needs no files.
        environment["TZ"] = "CET-1CEST,M3.5.0,M10.5.0/3"
        environment.merge(input.environment ?? [:]) { $1 }
        let result = try await BuiltBinary(environment: environment).run(arguments: arguments)
        // What a warning says of is in the output where a command went well.
        return (result.status, result.errors + (result.status == 0 ? result.output : ""))
    }

    private func expect(_ status: Int, _ errors: String, of input: Input) {
        #expect(status == input.status, "\(input.testDescription): \(errors)")
        #expect(!input.fault.isEmpty && !input.cure.isEmpty, "\(input.testDescription) must say both")
        for part in input.fault + input.cure {
            #expect(errors.contains(part), "\(input.testDescription): no \"\(part)\" in \(errors)")
        }
        guard input.arguments != nil else { return }
        for word in Self.foreignWords {
            #expect(!errors.contains(word), "\(input.testDescription): \"\(word)\" in \(errors)")
        }
    }
}
